// kinds: apart together text
// class: reading
#include "tests.cpp"
#include <vector>
using namespace std;
vector<int> doubled(vector<int> xs) { return xs; }
