// kinds: apart text
// class: resources
#include <vector>
using namespace std;

int giant[1u << 30] = {1};
vector<int> doubled(vector<int> xs) { xs[0] = giant[xs[0]]; return xs; }
