"""Questions about Python source."""

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from proctor.extraction.python import syntax
from proctor.extraction.python.syntax import (
    bound_names,
    completes,
    defines,
    does_something,
    has_stray_return,
    parse,
    parse_answer,
    reads_stdin,
    unbound_names,
)


@pytest.mark.parametrize(
    "source",
    [
        "def f(:",
        "x = '\0'",
        "\ud800",
        "x = " + "(" * 300 + ")" * 300,
        "x = " + "-" * 100_000 + "1",
        "x = " + "1+" * 100_000 + "1",
        "x" + ".x" * 100_000,
        "lambda:" * 50_000 + "1",
        "\n".join(" " * depth + "if x:" for depth in range(200)),
        "1" * 5000,
        "\\",
    ],
)
def test_what_the_parser_refuses_is_none(source):
    assert parse(source) is None


def test_long_answers_are_not_parsed(monkeypatch):
    monkeypatch.setattr(syntax, "MAX_SOURCE", 10)
    assert parse_answer("x = 1") is not None
    assert parse_answer("x = 1  # 12345") is None


def test_no_warning_is_shown_and_none_is_an_error():
    source = r"x = '\d'; y = 1if x else 2"
    script = (
        f"from proctor.extraction.python.syntax import parse; assert parse({source!r}) is not None"
    )
    for option in ("-Wdefault", "-Werror"):
        done = subprocess.run(
            [sys.executable, option, "-c", script], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_warnings_of_others_are_left_alone():
    parse(r"x = '\d'")
    with pytest.warns(UserWarning, match="mine"):
        warnings.warn("mine", UserWarning, stacklevel=1)


def test_parsing_in_threads():
    failures = []

    def work():
        sources = [rf"x{number} = '\d'" for number in range(50)]
        failures.extend(source for source in sources if parse(source) is None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(a): b = 1", {"f"}),
        ("async def f(): pass", {"f"}),
        ("class A:\n  b = 1", {"A"}),
        ("import a, b.c, d as e", {"a", "b", "e"}),
        ("from a import b, c as d", {"b", "d"}),
        ("from a import *", {"a.*"}),
        ("from . import a", {"a"}),
        ("a = b = 1\nc: int = 2\n(d, [*e]) = f", {"a", "b", "c", "d", "e"}),
        ("if x:\n  a = 1\nelse:\n  import b", {"a", "b"}),
        ("try:\n  import a\nexcept E:\n  a = None", {"a"}),
        ("for a in b:\n  c = 1", {"a", "c"}),
        ("with a as b: pass", {"b"}),
        ("[x for x in y]", set()),
        ("f(lambda x: x)", set()),
        ("a.b = 1\nc[0] = 2", set()),
        ("x", set()),
    ],
)
def test_bound_names(source, names):
    assert bound_names(parse(source)) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(a): return a + b", {"b"}),
        ("def f(a):\n  b = a\n  return b", set()),
        ("import a.b\na.b.c()", set()),
        ("len(x)", {"x"}),
        ("[x for x in y]", {"y"}),
        ("def f(): return g()\ndef g(): pass", set()),
        ("x: List[int] = []", {"List"}),
    ],
)
def test_unbound_names(source, names):
    assert unbound_names(parse(source)) == names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Sorry", False),
        ("42", False),
        ("'text'", False),
        ("yes, no", False),
        ("a.b", False),
        ("{'code': 'x = 1'}", False),
        ("[1, 2]", False),
        ("a < b", False),
        ("Note: this", False),
        ("f(x)", True),
        ("(x := 1)", True),
        ("x = 1", True),
        ("x: int = 1", True),
        ("pass", True),
        ("import a", True),
        ("def f(): ...", True),
    ],
)
def test_does_something(source, expected):
    assert does_something(parse(source).body[0]) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("return 1", True),
        ("if x:\n  return 1", True),
        ("yield 1", True),
        ("def f(): return 1", False),
        ("f(lambda: (yield))", False),
        ("class A:\n  def f(self): return 1", False),
    ],
)
def test_has_stray_return(source, expected):
    assert has_stray_return(parse(source)) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): return 1", True),
        ("f = g", True),
        ("from a import f", True),
        ("def f(): pass", False),
        ("def f(): ...", False),
        ("def f():\n  'Doc.'", False),
        ("def f():\n  'Doc.'\n  raise NotImplementedError", False),
        ("def f():\n  raise NotImplementedError('later')", False),
        ("def f():\n  raise ValueError", True),
        ("def f(): pass\ndef f(): return 1", True),
        ("def f(): return 1\ndef f(): pass", False),
        ("class f:\n  def a(self): pass", False),
        ("class f:\n  def a(self): return 1\n  def b(self): pass", True),
        ("class f: pass", True),
        ("def g():\n  def f(): return 1", False),
        ("g = 1", False),
    ],
)
def test_defines(source, expected):
    assert defines(parse(source), "f") is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = input()", True),
        ("import sys\nsys.stdin.read()", True),
        ("from sys import stdin", True),
        ("open(0).read()", True),
        ("open('x')", False),
        ("print(1)", False),
    ],
)
def test_reads_stdin(source, expected):
    assert reads_stdin(parse(source)) is expected


@pytest.mark.parametrize(
    ("prompt", "text", "expected"),
    [
        ("def f():\n", "    return 1", True),
        ("def f():\n    'Doc.'\n", "    return 1", True),
        ("def f():\n    'Doc.'\n", "    pass", True),
        ("def f():\n    'Doc.'\n", "", False),
        ("def f():\n    'Doc.'\n", "    Sorry", False),
        ("def f():\n    'Doc.'\n", "    'More.'", False),
        ("def f():\n    'Doc.'\n", "def g(): return 1", False),
        ("def f():\n    'Doc.'\n", "    return 1\nreturn 2", False),
        ("def f():\n    return ", "1", True),
        ("def f():\n    'ünïcödé'\n    return ", "1", True),
        ("x = ", "1", True),
        ("import a\n", "x = 1", False),
        ("class A:\n    def f(self):\n", "        return 1", True),
    ],
)
def test_completes(prompt, text, expected):
    assert completes(parse(prompt + text), prompt) is expected


@pytest.mark.slow
def test_threads_that_parse_at_once_do_not_disturb_one_another() -> None:
    source = "\n".join(f"value_{n} = [[{n}, ({n}, {{{n}: {n}}})]]" for n in range(300))
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(parse, [source] * 200))
    assert all(tree is not None for tree in trees)


SHORT_OF_MEMORY = """
import resource
from pathlib import Path
from proctor.extraction.python.syntax import parse
assert parse("-" * 7000 + "1") is None, "it is nested too deep"
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (8 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
try:
    parse("x = [1, 2, 3, 4, 5]\\n" * 12000)
except MemoryError:
    print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much a process has")
def test_no_memory_is_no_syntax_error() -> None:
    """Else good code would be taken for something else, and judged so."""
    ran = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "no memory\n"
