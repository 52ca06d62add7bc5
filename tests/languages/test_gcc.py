"""What the driver of g++ would call, and the headers that a text begins with."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.languages import gcc
from proctor.languages.toolchain import find_toolchain
from tests.requires import requires


@pytest.fixture(scope="module")
def toolchain():
    requires("cpp")
    return find_toolchain("cpp")


def test_the_parts_are_called_as_the_driver_calls_them(toolchain):
    compile_, assemble, link = gcc.parts(toolchain).steps
    assert Path(compile_[0]).name == "cc1plus"
    assert {"-std=c++17", "-O0", "-fPIC", "part.cpp", "part.s"} <= set(compile_)
    assert {"part.s", "part.o"} <= set(assemble)
    assert {"-shared", "part.o", "part.so"} <= set(link)
    assert all(Path(argv[0]).is_absolute() for argv in (compile_, assemble, link))
    assert "-lcrypto" not in link


def test_headers_come_first(toolchain):
    steps = gcc.with_headers(gcc.parts(toolchain).steps)
    assert steps[0][1:3] == ["-include", gcc.HEADER]
    assert steps[1:] == gcc.parts(toolchain).steps[1:]


@pytest.mark.parametrize(
    ("source", "headers"),
    [
        ("#include <map>\n#include<vector>\nint x;\n#include <set>\n", ("map", "vector")),
        (
            "/* a\n * b */\n// c\n\n #  include < stdio.h >  // d\nusing namespace std;",
            ("stdio.h",),
        ),
        ("#include <sys/types.h>\n#include <bits/stdc++.h>\n", ("sys/types.h", "bits/stdc++.h")),
        ('#include "own.h"\n#include <map>\n', ()),
        ("#define NDEBUG\n#include <map>\n", ()),
        ("#pragma GCC optimize(3)\n#include <map>\n", ()),
        ("// a comment that goes on \\\n#include <map>\n#include <set>\n", ()),
        ("#include <map> /* more\n*/ #include <set>\n", ()),
        ("// see below \\ \n#include <map>\n#include <vector>\n", ()),
        ("#include <set>\n// below \\\t\n#include <map>\n", ("set",)),
        ("#include <map> // \\ \n#include <set>\n", ()),
        ("#include <a>\n" * 10_000, ("a",) * gcc.MAX_HEADERS),
        (f"#include <{'a' * 1000}>\n", ()),
        ("#include <map>", ()),
        ('/* prints "a\\n" */\n#include <map>\n// C:\\new\n#include <set>\n', ("map", "set")),
        ("// is it so??/\n#include <map>\n", ()),
        ("// x\r#if 0\n#include <map>\n", ()),
        ("#include <map> // x\r#define vector\n#include <vector>\n", ()),
        ("// x\r\n#include <map>\n", ("map",)),
        ("// below \\\0\n#include <map>\n", ()),
        ("#if 0\n#include <map>\n#endif\n", ()),
        ("/* #include <map>\n", ()),
        ('R"(\n#include <map>\n)"', ()),
        ("", ()),
    ],
)
def test_only_what_a_text_begins_with(source, headers):
    assert gcc.prefix(source) == headers


@given(st.text(alphabet="#include <map>\n/*\\ \"'R(", max_size=300))
def test_every_header_that_is_found_is_included_by_its_own_line(source):
    for name in gcc.prefix(source):
        assert any(f"<{name}>" in line.replace(" ", "") for line in source.splitlines())


@pytest.mark.parametrize(
    "source",
    [
        "namespace std { template <> struct hash<int*> {}; }",
        "template<> struct std::hash<P> { };",
        "template < > void swap(int &, int &);",
        "template <class T> struct std::less<T *> {};",
        "template <class T> class std :: less<T *> {};",
        "namespace boost {}",
    ],
)
def test_a_text_that_reaches_into_headers(source):
    assert gcc.reaches_in(f"using namespace std;\n{source}\n")
    assert gcc.reaches_in(f"using namespace std;\n{source}\n", may=True)


@pytest.mark.parametrize(
    "source",
    [
        "template/* own */<> const int& std::max<int>(const int& a, const int& b);",
        "#define OWN template\nOWN<> const int& std::max<int>(const int& a, const int& b);",
        "tem\\\nplate<> void std::swap(int &, int &);",
        "#define OWN tem ## plate",
        "#define OWN tem %:%: plate",
        "namespace/**/std { int more; }",
        "template <typename T> T twice(T x) { return x + x; }",
        "_GLIBCXX_BEGIN_NAMESPACE_CXX11 }",
        "void *operator new(size_t size);",
        "void operator\tdelete[](void *) noexcept;",
        "void *operator/**/new(size_t size);",
        "#define PLACE operator\nvoid *PLACE new(size_t size);",
        "#define MAKE new\nvoid *operator MAKE(size_t size);",
        "void std::__throw_out_of_range_fmt(const char *, ...) { abort(); }",
        "tem\\\0\nplate<> void std::swap(int &, int &);",
        "#define using\nusing namespace std { int more; }",
        'extern "C++"\n#define N namespace\n{ }\nN std { int more; }',
        "int q\n#define O operator\n(0);\nvoid *O new(size_t size);",
        "void std::/**/__throw_out_of_range_fmt(const char *, ...) { abort(); }",
        "// x\rtemplate <class T> T twice(T x);",
        f'#if __has_include("{gcc.HEADER}.gch")',
        "tem??/\nplate<> void std::swap(int &, int &);",
    ],
)
def test_a_text_that_may_do_so_where_it_is_hidden(source):
    assert gcc.reaches_in(f"using namespace std;\n{source}\n", may=True)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "using namespace std;\nint f(int x) { return x; }",
        "template <typename T> T twice(T x) { return x + x; }",
        "namespace { int hidden; }",
        "struct Point { int x; };\nclass Line : public Point {};",
        "int namespaces; std::string templates;",
        "struct P { bool operator<(const P &) const; int operator()(int); int &operator [](int); };",
        "P *p = new P; delete p; ++operators;",
        "// Given an operator, and a template.\n#include <map>\nint f() { return 1; }",
        "int level = __INCLUDE_LEVEL__; int headers;",
    ],
)
def test_a_text_that_keeps_to_itself(source):
    assert not gcc.reaches_in(source)
    assert "template <" in source or not gcc.reaches_in(source, may=True)


def test_headers_are_used_only_if_the_compiler_says_so():
    assert gcc.is_used(b"! headers.h.gch\n part.cpp\n")
    assert gcc.is_used(b"! ./headers.h.gch\n")
    assert not gcc.is_used(b"x headers.h.gch\n. /usr/include/stdio.h\n")
    assert not gcc.is_used(b"")
