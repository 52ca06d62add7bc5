// kinds: apart together text
// class: resources
#include <vector>
using namespace std;

template <int n> struct Deep { static const int value = Deep<n + 1>::value + 1; };
vector<int> doubled(vector<int> xs) { xs[0] = Deep<0>::value; return xs; }
