#include <stdio.h>
#include <pthread.h>

static void *work(void *x) { *(int *)x *= 2; return 0; }

int main(void) {
    int n;
    pthread_t thread;
    if (scanf("%d", &n) != 1) return 1;
    if (pthread_create(&thread, 0, work, &n) != 0) return 2;
    pthread_join(thread, 0);
    printf("%d\n", n);
    return 0;
}
