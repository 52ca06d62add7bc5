// class: reading
// tiers: kernel docker
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *places[] = {
    "/etc/shadow", "/etc/ssh", "/root/.bashrc", "/root/.ssh", "/var/log", "/proc/1/root/etc/shadow",
    "/proc/1/environ", "/proc/kcore", "/dev/sda", "/dev/mem", "/workspace", "/var/run/docker.sock",
};

int main(void) {
    int held = 1;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], R_OK) == 0) { held = 0; fprintf(stderr, "%s\n", places[i]); }
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
