// kinds: apart together text
#include <vector>
using namespace std;
vector<int> doubled(vector<int> xs) {
    for (int &x : xs) x *= 2;
    return xs;
}
