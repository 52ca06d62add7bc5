// kinds: apart together text
// What is declared and never defined is noticed by the linker.
#include <vector>
using namespace std;

int helper(int x);
vector<int> doubled(vector<int> xs) { for (int &x : xs) x = helper(x); return xs; }
