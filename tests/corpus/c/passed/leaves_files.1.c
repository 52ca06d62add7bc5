// class: persistence
// tiers: kernel docker
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *places[] = {
    "/tmp/proctor-corpus-c", "/var/tmp/proctor-corpus-c", "/dev/shm/proctor-corpus-c",
    "proctor-corpus-c", "/proctor-corpus-c", "/usr/proctor-corpus-c",
};

int main(void) {
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        FILE *file = fopen(places[i], "w");
        if (file) { fputs("here", file); fclose(file); }
    }
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", 2 * n);
    return 0;
}
