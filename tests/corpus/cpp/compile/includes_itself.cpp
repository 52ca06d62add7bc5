// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

#include __FILE__
vector<int> doubled(vector<int> xs) { return xs; }
