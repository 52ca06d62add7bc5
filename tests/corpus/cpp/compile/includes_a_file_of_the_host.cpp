// kinds: apart together text
// class: reading
#include <vector>
using namespace std;

#include "/etc/hostname"
vector<int> doubled(vector<int> xs) { return xs; }
