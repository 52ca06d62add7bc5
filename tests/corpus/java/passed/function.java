// kinds: program
class Solution {
    static int twice(int x) { return x + x; }
}
