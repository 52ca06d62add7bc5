#include <stdio.h>

int main(void) {
    int n = 0, m = 0;
    if (scanf("%d", &n) != 1) return 1;
    FILE *file = tmpfile();
    if (!file) return 2;
    fprintf(file, "%d", 2 * n);
    rewind(file);
    if (fscanf(file, "%d", &m) != 1) return 3;
    printf("%d\n", m);
    return 0;
}
