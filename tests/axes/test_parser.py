"""Hostile text in the parser: what it costs, what it cannot reach, and what is believed."""

import json

import pytest

from proctor.axes import parser as module
from proctor.axes.finding import Kind, SampleStatus
from proctor.records.execution import Execution, Exited, Signalled
from proctor.records.repository import Repository
from proctor.storage.cache import Cache

HEADER = "#pragma once\nnamespace m { int twice(int); int base(); class Box; }\n"
CONTEXT = Repository(
    files={
        "include/m/a.h": HEADER,
        "include/m/box.h": "#pragma once\nnamespace m { class Box { public: int n = 1; }; }\n",
        "src/a.cpp": '#include "m/a.h"\nnamespace m {\n/*HOLE*/\n}\n',
        "src/b.cpp": '#include "m/a.h"\nint m::base() { return 5; }\n',
    },
    unit="src/a.cpp",
    sources=["src/b.cpp"],
    flags=["-std=c++17", "-Iinclude"],
)
REFERENCE = "int twice(int x) { return 2 * x; }\n"
BROKEN = "int twice(int x) { return gone(x); }\n"


ODD = [
    (
        "template <int N> struct T { enum { v = T<N - 1>::v + T<N - 2>::v }; };\n"
        "int twice(int x) { return T<900>::v; }\n"
    ),
    "int twice(int x) { return " + "(" * 100_000 + "x" + ")" * 100_000 + "; }\n",
    "#include __FILE__\nint twice(int x) { return x; }\n",
    "int twice(int x) { return x; }\n\0\0\0",
    "",
    "\udcff\ufeff\x1b[2J",
]
BOMBS = [
    (
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\n#define C(x) B(B(B(x)))\n"
        "int twice(int x) { return 0 C(+ 1); }\n"
    ),
    '#include "/dev/zero"\nint twice(int x) { return x; }\n',
]


def unharmed(parser, hostile):
    """Read hostile text between two that are not, and see that these come out as ever."""
    found = parser.read(CONTEXT, REFERENCE, [REFERENCE, *hostile, BROKEN])
    assert len(found) == len(hostile) + 2
    assert found[0].status is SampleStatus.OK
    assert not found[0].findings
    assert [one.qualified for one in found[-1].findings] == ["gone"]
    return found[1:-1]


def test_odd_text_invents_nothing(parser):
    for one in unharmed(parser, ODD):
        assert not one.invented, one


@pytest.mark.slow
def test_one_that_takes_the_parser_down_costs_the_others_nothing(parser):
    macros, _ = unharmed(parser, BOMBS)
    assert macros.status in (SampleStatus.PARSER_FAILED, SampleStatus.PARSER_TIMEOUT)


def test_it_reads_no_file_of_the_host(parser, tmp_path):
    secret = tmp_path / "secret.h"
    secret.write_text("namespace m { inline int secret() { return 1; } }\n")
    code = f'#include "{secret}"\nint twice(int x) {{ return secret() + x; }}\n'
    reading = parser.read(CONTEXT, REFERENCE, [code])[0]
    assert {one.kind for one in reading.findings} == {Kind.INVENTED_HEADER, Kind.INVENTED_SYMBOL}
    passwords = '#include "/etc/passwd"\nint twice(int x) { return x; }\n'
    reading = parser.read(CONTEXT, REFERENCE, [passwords])[0]
    assert [one.kind for one in reading.findings] == [Kind.OUT_OF_CALL_GRAPH]
    assert reading.outside_errors


def test_a_class_that_is_only_announced_is_not_visible(parser):
    code = "int twice(int x) { extern Box& box; return box.n + x; }\n"
    assert [one.kind for one in parser.read(CONTEXT, REFERENCE, [code])[0].findings] == [
        Kind.NOT_VISIBLE
    ]


def test_a_task_whose_reference_is_broken_measures_nobody(parser):
    found = parser.read(CONTEXT, BROKEN, [REFERENCE, BROKEN])
    assert {one.status for one in found} == {SampleStatus.CONTEXT_BROKEN}
    assert "invented_symbol gone" in found[0].detail


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"not JSON\n",
        b"[]\n",
        b'{"syntax": false}\n',
        b'{"syntax": 1, "count": {}, "findings": [], "errors": [], "outside": 0}\n',
        b'{"syntax": false, "count": {}, "findings": [{"kind": "fine"}], "errors": [], "outside": 0}\n',
        b"[" * 100_000,
    ],
)
def test_what_comes_back_is_believed_only_if_it_is_what_it_should_be(said):
    assert module._readings(Execution(ending=Exited(0), stdout=said)) == []


def test_a_crash_by_itself_is_the_parsers_failure(parser, monkeypatch):
    order = {"do": "read"}
    killed = Execution(ending=Signalled(11))
    monkeypatch.setattr(parser, "_run", lambda *_: killed)
    assert [one.status for one in parser._batch(order, ["a", "b"])] == [
        SampleStatus.PARSER_FAILED
    ] * 2


def test_names_are_kept_on_disk_and_made_again_if_they_are_damaged(parser, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(parser, "_kept", {})
    names = parser.names(CONTEXT)
    assert names["m::base"] == "function"
    assert names["m::Box::n"] == "field"
    (file,) = (tmp_path / ".cache" / "proctor" / "axes").iterdir()
    kept = Cache(module.NAME).get(file.name)
    assert kept is not None
    assert json.loads(kept)["names"] == names
    for damaged in (b"{", b""):
        file.write_bytes(damaged)
        assert module._recall(file.name) is None
    Cache(module.NAME).put(file.name, b'{"of another": "version"}')
    assert module._recall(file.name) is None
    monkeypatch.setattr(parser, "_kept", {})
    assert parser.names(CONTEXT) == names
