// kinds: apart together text
#include <vector>
using namespace std;

vector<int> doubled(vector<int> xs) { volatile int *p = nullptr; xs[0] = *p; return xs; }
