// class: reading
#include "/etc/shadow"
#include "/etc/passwd"
#include <stdio.h>

int main(void) { return 0; }
