// kinds: apart together text
#include <vector>
using namespace std;
vector<int> doubled(vector<int> xs) { return xs; }
