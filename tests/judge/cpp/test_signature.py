"""What is read from a prompt's declaration, and what we say that we do not know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks import load
from proctor.judge.cpp.signature import ARITIES, Type, call_arguments, parse_signature

STD = "using namespace std;\n"


def read(prompt, name="f"):
    found = parse_signature(prompt, name)
    return None if found is None else (found.returned, [one.type for one in found.parameters])


def texts(prompt):
    found = read(prompt)
    return None if found is None else [one and one.text for one in (found[0], *found[1])]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("int f(int a, int b) {\n", ["int", "int", "int"]),
        ("int f();", ["int"]),
        ("int f(void) {", ["int"]),
        ("long long int f(unsigned a, unsigned long long int b, signed char c)", ["long long", "unsigned int", "unsigned long long", "signed char"]),
        ("bool f(std::string, char c) {", ["bool", "::std::string", "char"]),
        (STD + "vector<vector<int>> f(const map<string, vector<bool>> &m, float x){", ["::std::vector<::std::vector<int>>", "::std::map<::std::string, ::std::vector<bool>>", "float"]),
        ("using std::vector;\nsize_t f(vector<int64_t> v) {", ["unsigned long", "::std::vector<long>"]),
        ("std::tuple<long, std::optional<std::pair<int,double>>> f(int x) {", ["::std::tuple<long, ::std::optional<::std::pair<int, double>>>", "int"]),
        ("/* int f(double); */\n// int f(char)\n#define N 5\nint f(int n) { // what it does {\n", ["int", "int"]),
        ("int g(int x) { return x; }\nint f(int x) {", ["int", "int"]),
        ("struct P { int x; };\ntypedef int Int;\nconst int N = 3;\nint f(int x) {", ["int", "int"]),
    ],
)  # fmt: skip
def test_plain_values(prompt, expected):
    assert texts(prompt) == expected
    assert parse_signature(prompt, "f").plain


@pytest.mark.parametrize(
    "prompt",
    [
        "int counter = 0;\nint f(int x) {",
        "int table[3];\nint f(int x) {",
        "static int last;\nint f(int x) {",
        "struct P { int x; } p;\nint f(int x) {",
        "namespace a { int b; }\nint f(int x) {",
        "int g(int x) { static int n; return n++; }\nint f(int x) {",
        "extern int n;\nint f(int x) {",
        "int f(int x = 3) {",
        "int f(int x[3]) {",
        "int f(int (*g)(int)) {",
        "int f(std::vector<int> &&v) {",
        "int f(int x, ...) {",
        "int f(int x) const {",
        "auto f(int x) -> int {",
        "auto f(int x) {",
        "template <class T> T f(T x) {",
        "inline int f(int x) {",
        "int f(int x) { return x; }\nint g(int x) {",
        "Write a function int f(int x) that doubles x.",
        "int g(int x) {",
        "class A { public: int f(int x) {",
        "f(int x) {",
        "",
    ],
)
def test_what_we_do_not_know(prompt):
    assert parse_signature(prompt, "f") is None


@pytest.mark.parametrize(
    "prompt",
    [
        "vector<int> f(int x) {",  # whose vector?
        "std::any f(std::any x) {",
        "long double f(int x) {",
        "int *f(int x) {",
        "int f(int *x) {",
        "std::unordered_map<int, int> f(int x) {",
        "const std::string &f(int x) {",
        "std::vector<int, std::allocator<int>> f(int x) {",
        "struct P { int x; };\nP f(int x) {",
        "int f(std::vector<int> &a, const std::vector<int> &b) {",  # which may be the same
    ],
)
def test_what_can_be_declared_but_does_not_cross(prompt):
    found = parse_signature(prompt, "f")
    assert found is not None
    assert not found.plain


def test_references_that_are_written_to():
    found = parse_signature("void f(std::vector<int> &a, int b, std::string const c) {", "f")
    assert [(one.written, one.reference) for one in found.parameters] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    assert (found.returns, found.returned, found.plain) == ("void", None, True)


@pytest.mark.parametrize("name", [None, "", "f()", "Solution().f", "f|g", "1f"])
def test_names_that_are_none(name):
    assert parse_signature("int f(int x) {", name) is None


def test_the_head_is_all_that_stands_in_front():
    prompt = "#include <vector>\nint g() { return 1; }\n/* what */\nint f(int x) {\n    // more\n"
    head = parse_signature(prompt, "f").head
    assert prompt.startswith(head)
    assert "return 1;" in head
    assert "f(int" not in head
    assert parse_signature("#include <vector>\nint f(int x) {", "f").head == "#include <vector>\n"


def test_calls_and_what_stands_for_them():
    code = (
        'auto candidate = f;\nassert(candidate(a, {1, 2}) == f(b, g(1, 2)));\nputs("f(1)"); // f(2)'
    )
    assert call_arguments(code, "f") == [["a", "{1, 2}"], ["b", "g(1, 2)"]]


PLAIN = st.recursive(
    st.sampled_from(["int", "long", "long long", "unsigned int", "char", "bool", "float", "double"]).map(Type)
    | st.just(Type("string")),
    lambda inner: st.one_of(
        *(
            st.builds(lambda name, of: Type(name, tuple(of)), st.just(name), st.lists(inner, min_size=arity.start, max_size=min(arity.stop - 1, 3)))
            for name, arity in ARITIES.items()
            if name != "string"
        )
    ),
    max_leaves=5,
)  # fmt: skip


@given(PLAIN, st.lists(PLAIN, max_size=3))
def test_what_is_spelled_out_is_read_back(returned, parameters):
    given = ", ".join(f"{one.text} a{i}" for i, one in enumerate(parameters))
    prompt = f"{returned.text} f({given}) {{\n".replace("::std::", "std::")
    assert read(prompt) == (returned, parameters)


@given(
    st.text(max_size=200), st.text(alphabet="int f(){};<>,&*: \n#/\"'\\=vectorstd", max_size=200)
)
def test_no_text_is_too_much(text, code):
    for prompt in (text, code, f"{code}\nint f(int x) {{", f"int f({code}) {{"):
        parse_signature(prompt, "f")
        call_arguments(prompt, "f")


def test_all_of_humaneval_in_cpp(data):
    for name, plain in (("humaneval-x-cpp", 162), ("multipl-e-cpp", 157)):
        tasks = load(name, data).tasks
        found = [parse_signature(task.prompt, task.entry_point) for task in tasks]
        assert None not in found
        assert sum(one.plain for one in found) == plain
