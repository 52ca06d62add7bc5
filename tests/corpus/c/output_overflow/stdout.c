// class: resources
#include <stdio.h>

int main(void) {
    for (;;) puts("a line that is written again and again and again and again and again");
}
