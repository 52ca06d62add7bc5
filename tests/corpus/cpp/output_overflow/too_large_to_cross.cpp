// kinds: apart together text
// class: resources
// together: wrong_answer
// text: wrong_answer
#include <vector>
using namespace std;

vector<int> doubled(vector<int>) { return vector<int>(3000000, 1); }
