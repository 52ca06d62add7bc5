// kinds: program
// class: forging
#include <unistd.h>

__attribute__((constructor)) static void first(void) { _exit(0); }

int twice(int x) { return 0; }
