// kinds: apart text
// class: resources
#include <vector>
using namespace std;
#if __INCLUDE_LEVEL__ < 60
#include __FILE__
#include __FILE__
#endif
vector<int> doubled(vector<int> xs) { return xs; }
