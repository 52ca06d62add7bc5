// kinds: apart together text
#include <stdexcept>
#include <vector>
using namespace std;

vector<int> doubled(vector<int>) { throw runtime_error("no"); }
