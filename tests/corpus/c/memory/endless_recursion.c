// class: resources
int deep(volatile int n) { return n ? deep(n + 1) + n : 0; }

int main(void) { return deep(1); }
