// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

constexpr int spin() { int n = 0; for (int i = 0; i < 2000000000; ++i) n ^= i; return n; }
constexpr int spun = spin();
vector<int> doubled(vector<int> xs) { return xs; }
