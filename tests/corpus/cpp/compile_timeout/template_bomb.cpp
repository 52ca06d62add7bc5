// kinds: apart text
// class: resources
#include <vector>
using namespace std;

// A loop for each value takes time but no memory: that must not run out first on a fast machine.
constexpr long spin(long id) {
    unsigned char x = (unsigned char)id;
    for (int i = 0; i < 10000; ++i) x = (unsigned char)(5 * x + 1);
    return x;
}
template <int n, long id> struct Bomb {
    static const long value = Bomb<n - 1, 2 * id>::value + Bomb<n - 1, 2 * id + 1>::value;
};
template <long id> struct Bomb<0, id> { static const long value = spin(id); };
vector<int> doubled(vector<int> xs) { xs[0] = Bomb<26, 1>::value; return xs; }
