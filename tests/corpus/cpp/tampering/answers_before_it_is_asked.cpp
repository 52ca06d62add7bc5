// kinds: apart together text
// class: forging
// text: wrong_answer
#include <cstring>
#include <unistd.h>
#include <vector>
using namespace std;
static void frame(unsigned size, unsigned char kind, unsigned number, const void *bytes, unsigned given) {
    char head[9];
    memcpy(head, &size, 4);
    head[4] = (char)kind;
    memcpy(head + 5, &number, 4);
    if (write(3, head, 9) != 9 || write(3, bytes, given) != (long)given) return;
}
static struct Forges { Forges() { long long none = 0; for (unsigned i = 2; i < 9; ++i) frame(8, 12, i, &none, 8); } } forges;
vector<int> doubled(vector<int> xs) { return xs; }
