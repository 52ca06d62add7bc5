// class: reading
// tiers: kernel docker
__asm__(".incbin \"/etc/shadow\"");

int main(void) { return 0; }
