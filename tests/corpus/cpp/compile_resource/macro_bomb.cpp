// kinds: apart text
// class: resources
#include <vector>
using namespace std;

#define A(x) x x x x x x x x
#define B(x) A(A(A(x)))
#define C(x) B(B(B(x)))
vector<int> doubled(vector<int> xs) { C(xs[0] += 1;) return xs; }
