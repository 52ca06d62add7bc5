// kinds: apart together text
// class: resources
#include <unistd.h>
#include <vector>
using namespace std;

vector<int> doubled(vector<int> xs) { for (;;) sleep(1); return xs; }
