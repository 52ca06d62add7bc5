// class: reading
// tiers: kernel docker
#if __has_include("/etc/shadow") || __has_include("/root/.bashrc")
int main() {}
#else
#error nothing of the host is here
#endif
