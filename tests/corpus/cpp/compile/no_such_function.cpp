// kinds: apart together text
#include <vector>
using namespace std;

vector<int> trebled(vector<int> xs) { return xs; }
