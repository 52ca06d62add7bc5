// kinds: apart together text
// It may take its argument otherwise than the task declares it, as long as it can be called so.
#include <vector>
using namespace std;

vector<int> doubled(const vector<int> &xs) {
    vector<int> out;
    for (int x : xs) out.push_back(2 * x);
    return out;
}
