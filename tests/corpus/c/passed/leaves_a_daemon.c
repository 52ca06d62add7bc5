// class: persistence
// tiers: kernel docker
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_NAME, "proctor-corpus");
        close(0); close(1); close(2);
        if (fork() == 0) for (;;) pause();
        _exit(0);
    }
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", 2 * n);
    return 0;
}
