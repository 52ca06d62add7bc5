// class: processes
// tiers: kernel docker
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    int held = ptrace(PTRACE_ATTACH, 1, 0, 0) != 0 && ptrace(PTRACE_ATTACH, getppid(), 0, 0) != 0
        && process_vm_readv(1, &here, 1, &there, 1, 0) < 0;
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
