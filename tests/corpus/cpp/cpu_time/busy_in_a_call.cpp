// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

vector<int> doubled(vector<int> xs) { for (volatile int i = 0;; i = i + 1) xs[0] = i; }
