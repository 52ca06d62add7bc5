// class: resources
// seconds: 0.5
int main(void) {
    volatile unsigned long n = 0;
    for (;;) n++;
}
