// kinds: apart together text
// class: resources
// There are no devices where a compiler runs.
#include <vector>
using namespace std;

#include "/dev/zero"
vector<int> doubled(vector<int> xs) { return xs; }
