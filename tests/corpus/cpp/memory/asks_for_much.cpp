// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

vector<int> doubled(vector<int>) { vector<vector<int>> all; for (;;) all.emplace_back(1 << 24, 1); }
