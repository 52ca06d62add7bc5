// kinds: program
// class: forging
#include <signal.h>
#include <unistd.h>

static void fine(int number) { _exit(0); }

int twice(int x) {
    signal(SIGABRT, fine);
    return 0;
}
