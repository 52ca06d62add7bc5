// kinds: program
// class: forging
#define assert(x) ((void)0)
#define NDEBUG
#define main pretended

int twice(int x) { return 0; }
