// kinds: apart together text
// class: forging
#include <cstdlib>
#include <new>
#include <vector>
using namespace std;

void *operator new(size_t size) { return malloc(size); }
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
vector<int> doubled(vector<int> xs) { return xs; }
