// kinds: apart together text
// What a call leaves is there in the next one, as in one program.
#include <vector>
using namespace std;

static int calls = 0;
vector<int> doubled(vector<int> xs) {
    ++calls;
    if (calls > 3) return {};
    for (int &x : xs) x *= 2;
    return xs;
}
