// kinds: apart together text
// class: forging
// together: output_overflow
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
vector<int> doubled(vector<int> xs) {
    frame(0xffffffffu, 12, 1, "", 0);
    return xs;
}
