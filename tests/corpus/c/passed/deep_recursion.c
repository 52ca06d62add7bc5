#include <stdio.h>

static long deep(volatile long n) { return n ? deep(n - 1) + 1 : 0; }

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", deep(1000000) - 1000000 + 2 * n);
    return 0;
}
