// kinds: apart text
// class: resources
#include <vector>
using namespace std;

template <int n, long id> struct Bomb {
    static const long value = Bomb<n - 1, 2 * id>::value + Bomb<n - 1, 2 * id + 1>::value;
};
template <long id> struct Bomb<0, id> { static const long value = 1; };
vector<int> doubled(vector<int> xs) { xs[0] = Bomb<26, 1>::value; return xs; }
