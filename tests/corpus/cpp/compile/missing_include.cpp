// kinds: apart together text
// What it does not include is not there, whatever was compiled beforehand.
#include <vector>
using namespace std;

vector<int> doubled(vector<int> xs) { map<int, int> seen; for (int &x : xs) x = seen[x] = 2 * x; return xs; }
