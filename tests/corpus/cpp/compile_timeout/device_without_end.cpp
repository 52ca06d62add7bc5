// class: resources
#include <vector>
using namespace std;

#include "/dev/zero"
vector<int> doubled(vector<int> xs) { return xs; }
