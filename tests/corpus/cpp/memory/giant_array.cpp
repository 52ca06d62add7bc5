// kinds: apart together text
// class: resources
// text: crash
#include <vector>
using namespace std;

char giant[1ull << 33];
vector<int> doubled(vector<int> xs) { giant[xs[0]] = 1; return xs; }
