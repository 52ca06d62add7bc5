// class: processes
// tiers: kernel docker
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

int main(void) {
    int count = 0;
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc && (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0])) count++;
    int held = count <= 2;
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
