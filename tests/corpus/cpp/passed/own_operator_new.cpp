// kinds: apart text
#include <vector>
using namespace std;
#include <cstdlib>

static size_t live;
void *operator new(size_t size) {
    char *place = static_cast<char *>(malloc(size + 16));
    *reinterpret_cast<size_t *>(place) = size;
    live += size;
    return place + 16;
}
void operator delete(void *pointer) noexcept {
    if (pointer == nullptr) return;
    char *place = static_cast<char *>(pointer) - 16;
    live -= *reinterpret_cast<size_t *>(place);
    free(place);
}
void operator delete(void *pointer, size_t) noexcept { operator delete(pointer); }

vector<int> doubled(vector<int> xs) {
    size_t before = live;
    {
        vector<int> copied(xs.begin(), xs.end()), some = {1, 2};
        copied.insert(copied.end(), some.begin(), some.end());
        for (size_t i = 0; i < xs.size(); ++i) xs[i] = 2 * copied[i];
    }
    if (live != before) xs.clear();
    return xs;
}
