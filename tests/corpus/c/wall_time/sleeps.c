// class: resources
// seconds: 0.5
#include <unistd.h>

int main(void) {
    for (;;) sleep(100);
}
