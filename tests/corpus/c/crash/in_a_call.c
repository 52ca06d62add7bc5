// kinds: program
int twice(int x) { return *(volatile int *)8; }
