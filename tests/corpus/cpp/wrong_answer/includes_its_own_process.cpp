// kinds: apart together text
// class: reading
// The files of /proc say that they are empty, which the compiler believes.
#include <vector>
using namespace std;

#include "/proc/self/maps"
vector<int> doubled(vector<int> xs) { return xs; }
