// class: processes
// tiers: kernel docker
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    kill(-1, SIGKILL);
    kill(1, SIGKILL);
    if (getppid() > 1) kill(getppid(), SIGKILL);
    for (int pid = 1; pid < 65536; pid++)
        if (pid != getpid()) kill(pid, SIGKILL);
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", 2 * n);
    return 0;
}
