// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

static int spin() { for (volatile int i = 0;; i = i + 1) {} return 0; }
static int spun = spin();
vector<int> doubled(vector<int> xs) { return xs; }
