"""How stretches of text read as Python."""

import ast

import pytest

from proctor.extraction.python.layout import statement_starts
from proctor.extraction.python.reader import TextParser, entry_names
from proctor.records.task import Assertions, CallCases, StdinCases, Task

STUB = 'def f(x):\n    """Doc."""\n'


def reader(prompt="", entry="f", tests=None):
    tests = tests or Assertions(targets=[])
    return TextParser(Task(task_id="t", prompt=prompt, entry_point=entry, tests=tests))


@pytest.mark.parametrize(
    ("entry", "tests", "names"),
    [
        ("f", Assertions(targets=[]), {"f"}),
        ("Solution().two_sum", Assertions(targets=[]), {"Solution"}),
        (None, Assertions(targets=[]), set()),
        ("", Assertions(targets=[]), set()),
        (None, CallCases(fn_name="g", inputs=[], outputs=[]), {"g", "Solution"}),
        ("f", CallCases(fn_name="g.h", inputs=[], outputs=[]), {"f", "g", "Solution"}),
    ],
)
def test_entry_names(entry, tests, names):
    assert entry_names(Task(task_id="t", entry_point=entry, tests=tests)) == names


@pytest.mark.parametrize(
    ("code", "continues"),
    [
        ("def f(x): return x", False),
        ("import os\nf = os.getcwd", False),
        ("def g(x): return x", False),
        ("    return x", True),
        ("\n\n    return x", True),
        ("# why not\n    return x", True),
    ],
)
def test_read(code, continues):
    reading = reader(STUB).read(code)
    assert (reading.code, reading.continues, reading.mended) == (code, continues, False)


@pytest.mark.parametrize(
    "code", ["", "Sorry", "return x", "def f(:", "    Sorry", "# only", "'text'"]
)
def test_what_is_not_read(code):
    assert reader(STUB).read(code) is None


def test_code_that_goes_on_with_the_prompts_statement_at_column_zero():
    branch = "if True:\n    def f(x): return x\n"
    assert reader(branch).read("else:\n    f = None").continues


def test_code_that_ends_a_string_of_the_prompt():
    assert reader('def f(x):\n    """Doc\n').read('"""\n    return x').continues


def test_a_program_further_right_is_read_as_a_program():
    reading = reader(STUB).read("  def f(x):\n    return x\n")
    assert (reading.code, reading.mended) == ("def f(x):\n  return x\n", True)


@pytest.mark.parametrize("code", ["return x", " return x", "\treturn x", "y = x\n    return y"])
def test_mend(code):
    reading = reader(STUB).mend(code)
    assert (reading.continues, reading.mended) == (True, True)
    assert reading.code.startswith("    ")


@pytest.mark.parametrize(
    "code",
    [
        "Sorry",
        "I can't do that.",
        "def f(x)\n    return x",
        "def other(x):\n   y = 1\n  return y",
        "",
    ],
)
def test_what_is_not_mended(code):
    assert reader(STUB).mend(code) is None


def test_nothing_is_mended_without_a_prompt():
    assert reader().mend("return x") is None
    assert reader("Write f.").mend("return x") is None


@pytest.mark.parametrize(
    ("code", "head"),
    [
        ("x = 1\ny = 2\nIt was prose here\n", "x = 1\ny = 2\n"),
        ("x = 1\nIt was prose here\ny = 2\n", "x = 1\n"),
        ("x = 1\n" * 40 + "It was prose here\n" * 40, "x = 1\n" * 40),
        ("x = 1\n" + "It was prose here\n" * 100, "x = 1\n"),
        ("x = 1\n" * 100 + "It was prose here\n", "x = 1\n" * 100),
    ],
)
def test_longest(code, head):
    reading, length = reader().longest(code, statement_starts(code)[1:])
    assert (reading.code, length) == (head, len(head))


def test_no_head_parses():
    code = "It was prose here\nx = 1\ny = 1\n"
    assert reader().longest(code, statement_starts(code)[1:]) is None


@pytest.mark.parametrize(
    ("code", "tests", "expected"),
    [
        ("def f(x): return x", None, True),
        ("def f(x): pass", None, False),
        ("def g(x): return x", None, False),
        ("    return x", None, True),
        ("print(input())", StdinCases(inputs=[], outputs=[]), True),
        ("print(1)", StdinCases(inputs=[], outputs=[]), False),
        (
            "class Solution:\n  def g(self): return 1",
            CallCases(fn_name="g", inputs=[], outputs=[]),
            True,
        ),
    ],
)
def test_answers(code, tests, expected):
    one = reader(STUB, tests=tests)
    assert one.answers(one.read(code)) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x):", True),
        ("text\n    async def f (x):", True),
        ("class f:", True),
        ("f = 1", True),
        ("f == 1", False),
        ("f(1)", False),
        ("def ff(x):", False),
        ("I def f(x)", False),
    ],
)
def test_mentions_entry(code, expected):
    assert reader().mentions_entry(code) is expected
    assert reader(entry=None).mentions_entry(code) is False


def test_the_number_of_parses_is_bounded(monkeypatch):
    calls = []
    real_parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *a: calls.append(a) or real_parse(*a))
    one = reader()
    readings = [one.read(f"f = {number}") for number in range(100)]
    assert len(calls) == 64
    assert all(readings[:64])
    assert not any(readings[64:])


def test_the_parsed_characters_are_bounded():
    one = reader()
    code = "f = 1" + "\n" * (1 << 18)
    assert one.read(code) is None  # too long by itself
    assert [one.read(code[:-10]) is None for _ in range(5)] == [False] * 4 + [True]
