// class: resources
// tiers: kernel docker
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int held = 0;
    for (int i = 0; i < 4096 && !held; i++) {
        int pid = fork();
        if (pid == 0) for (;;) pause();
        held = pid < 0;
    }
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
