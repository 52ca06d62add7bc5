// kinds: apart together text
#include <vector>
using namespace std;

static int deep(volatile int n) { volatile char room[4096]; room[0] = (char)n; return deep(n + 1) + room[0]; }
vector<int> doubled(vector<int> xs) { xs[0] = deep(0); return xs; }
