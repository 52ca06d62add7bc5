// kinds: apart together text stdin
// class: forging
// Has its compiler say, on lines of their own, that it was killed and that it crashed.
#include <vector>
using namespace std;

#line 1 "x\ng++: fatal error: Killed signal terminated program cc1plus\ng++: internal compiler error: x\ny"
vector<int> doubled(vector<int> xs) { return undeclared; }
