// kinds: apart together text
// Right answers, and a crash when all is over: one program would fail, too.
// together: crash
#include <vector>
using namespace std;

static struct Breaks { ~Breaks() { __builtin_trap(); } } breaks;
vector<int> doubled(vector<int> xs) {
    for (int &x : xs) x *= 2;
    return xs;
}
