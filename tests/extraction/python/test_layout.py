"""Lines and indentation of text that need not parse."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.extraction.python.layout import (
    body_indent,
    has_definition,
    indent_of,
    is_code_line,
    is_prose_line,
    line_at,
    shift,
    statement_starts,
)


@pytest.mark.parametrize(
    "line",
    [
        "def f(x):",
        "async def f():",
        "class A:",
        "class A(B):",
        "@cache",
        "import os",
        "import os, sys  # both",
        "import numpy as np",
        "from a.b import c",
        "if x == 1:",
        "for x in y:",
        "for x in y: print(x)",
        "while True:  # forever",
        "try:",
        "else:",
        "return x",
        "print(x)",
        "print x",
        "x = 1",
        "x += 1",
        "x[0] = 1",
        "x.y = 1",
        "a, b = b, a",
        "f(x)",
        "a.b(c)  # d",
        "pass",
    ],
)
def test_code_lines(line):
    assert is_code_line(line)
    assert not is_prose_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "Here is the function:",
        "The function f(x) returns x.",
        "Note that x = 1 here.",
        "import the module and run it.",
        "class of problems",
        "for example, you can",
        "a == b",
        "add(1, 2) -> 3",
        "- a list item",
        "1. First",
        "# A heading",
        "**bold**",
        "```python",
        "I think so",
        "",
    ],
)
def test_not_code_lines(line):
    assert not is_code_line(line)


@pytest.mark.parametrize("line", ["def f", "def f\\_x(a):", "class A", "if x ==", "for example"])
def test_broken_code_is_no_prose(line):
    assert not is_prose_line(line)


@pytest.mark.parametrize("line", ["Here is it:", "This isn't code", "Output", "$ python a.py", "3"])
def test_prose(line):
    assert is_prose_line(line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello\ndef f", True),
        ("  def f(x):\n", True),
        ("import os\n", True),
        ("a\nfrom os import path", True),
        ("class A:", True),
        ("class struggle", False),
        ("I define things", False),
        ("import taxes are high", False),
        ("important", False),
    ],
)
def test_has_definition(text, expected):
    assert has_definition(text) is expected


def test_line_at():
    assert [line_at("ab\ncd", position) for position in (0, 1, 3, 5)] == ["ab", "b", "cd", ""]


def starts(text):
    return [line_at(text, position) for position in statement_starts(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        ("def f():\n    a\n\n    b\nc", ["def f():", "c"]),
        ('x = """\na\nb\n"""\ny', ['x = """', "y"]),
        ("x = [\n1,\n2\n]\ny", ["x = [", "y"]),
        ("if a:\n    b\nelse:\n    c\nd", ["if a:", "d"]),
        ("try:\n    a\nexcept E:\n    b\nfinally:\n    c", ["try:"]),
        ("@a\n@b\ndef f():\n    c\ndef g():\n    d", ["@a", "def g():"]),
        ("x = 1 + \\\n2\ny", ["x = 1 + \\", "y"]),
        ("It doesn't\nmatter", ["It doesn't", "matter"]),
        ("Sad :(\nvery\ndef f():\n    a\nb", ["Sad :(", "def f():", "b"]),
        ("# it's\na", ["# it's", "a"]),
        ("a)\nb", ["a)", "b"]),
        ('"""never ends\na\nb', ['"""never ends']),
    ],
)
def test_statement_starts(text, expected):
    assert starts(text) == expected


def test_statement_starts_agree_with_the_parser():
    source = Path(ast.__file__).read_text(encoding="utf-8")
    nodes = ast.parse(source).body
    lines = {source.count("\n", 0, start) + 1 for start in statement_starts(source)}
    firsts = {min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]) for n in nodes}
    assert firsts <= lines


@pytest.mark.parametrize(
    ("prompt", "indent"),
    [
        ('def f():\n    """Doc."""\n', "    "),
        ("def f():\n", "    "),
        ("def f():", "    "),
        ("class A:\n  def f(self):\n", "      "),
        ('class A:\n  def f(self):\n    """Doc."""\n', "    "),
        ("def f():\n\t'''Doc.'''\n\n", "\t"),
        ("", ""),
    ],
)
def test_body_indent(prompt, indent):
    assert body_indent(prompt) == indent


def test_indent_of():
    assert [indent_of(line) for line in ("a", "  a", "\t a", "  ", "")] == [
        "",
        "  ",
        "\t ",
        "  ",
        "",
    ]


@pytest.mark.parametrize(
    ("code", "old", "new", "expected"),
    [
        ("a\nb", "", "  ", "  a\n  b"),
        ("  a\n    b\nc", "  ", "    ", "    a\n      b\nc"),
        ("a\n\nb", "", "  ", "  a\n\n  b"),
        ('x = """\ny\n"""\nz', "", "  ", '  x = """\ny\n"""\n  z'),
        ("a = 'it'\nb  # don't\nc", "", " ", " a = 'it'\n b  # don't\n c"),
        ('"""a"""\n"""b"""\nc', "", " ", ' """a"""\n """b"""\n c'),
        ("\ta\n\t\tb", "\t", "    ", "    a\n    \tb"),
    ],
)
def test_shift(code, old, new, expected):
    assert shift(code, old, new) == expected


@given(st.text(alphabet="ab \n\t'\"#\\([", max_size=60))
def test_shift_by_nothing_changes_nothing(code):
    assert shift(code, "", "") == code


@given(st.text(alphabet="ab \n'\"#\\(]@", max_size=60))
def test_statement_starts_are_in_order_and_at_column_zero(text):
    found = statement_starts(text)
    assert found == sorted(set(found))
    assert all(start == 0 or text[start - 1] == "\n" for start in found)
