// kinds: apart together text
// class: forging
// together: wall_time
// text: wrong_answer
// The descriptor is read first; what comes there is a call and no token.
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
static struct Forges {
    Forges() {
        char all[128] = {};
        long got = read(3, all + 40, 80);
        memmove(all, all + 49, 32);
        all[32] = 'y';
        if (got >= -1) frame(37, 22, 0, all, 37);
    }
} forges;
vector<int> doubled(vector<int> xs) { return xs; }
