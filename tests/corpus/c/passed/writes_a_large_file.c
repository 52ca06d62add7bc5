// class: resources
// tiers: kernel docker
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    signal(SIGXFSZ, SIG_IGN);
    FILE *file = fopen("large", "w");
    int blocks = 0;
    while (file && blocks < 512 && fwrite(block, sizeof block, 1, file) == 1 && fflush(file) == 0)
        blocks++;
    int held = blocks < 512;
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
