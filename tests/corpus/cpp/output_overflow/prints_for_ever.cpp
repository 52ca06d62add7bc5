// kinds: apart together text
// class: resources
#include <cstdio>
#include <vector>
using namespace std;

vector<int> doubled(vector<int>) { for (;;) puts("yes"); }
