"""Tests of the hostile corpus for C++, one for each way in which `judge.py` judges."""

_DECLARED = "#include <vector>\nusing namespace std;\nvector<int> doubled(vector<int> xs) {\n"
_DOUBLED = (
    "#include <assert.h>\nint main() {\n    {}\n"
    "    assert(doubled({1, 2}) == vector<int>({2, 4}));\n    vector<int> many(100, 21);\n"
    "    assert(doubled(many) == vector<int>(100, 42));\n"
    "    assert((doubled({-3}) == vector<int>{-6}));\n}\n"
)
CPP_KINDS = {
    "apart": (_DECLARED, _DOUBLED),
    "together": (_DECLARED, _DOUBLED.replace("{}", "try { (void)0; } catch (...) {}", 1)),
    "text": ("", _DOUBLED),
}
"""Kind of C++ tests → a prompt and tests that are judged that way."""
