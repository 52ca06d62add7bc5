// class: processes
// tiers: kernel docker
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

int main(void) {
    int held = unshare(CLONE_NEWUSER) != 0 && unshare(CLONE_NEWNS) != 0
        && mount("none", "/tmp", "tmpfs", 0, 0) != 0 && chroot("/tmp") != 0 && setuid(0) != 0;
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
