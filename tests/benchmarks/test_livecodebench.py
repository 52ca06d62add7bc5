"""Rows of LiveCodeBench, hidden tests included, and programs that its own runner gets wrong."""

import base64
import json
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks import load
from proctor.benchmarks.contest_rows import BadRow
from proctor.benchmarks.livecodebench import pickled_string, unpacked
from proctor.benchmarks.selection import Selection
from proctor.errors import InputError
from proctor.judge.judge import Judge
from proctor.records.program import Program
from proctor.records.task import CallCases, StdinCases, Task
from proctor.records.verdict import Bucket, Passed
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import load_settings

Write = Callable[..., Path]
Proctor = Callable[..., Any]


def packed(value: object, protocol: int | None = None) -> str:
    """Pack hidden tests as they are published."""
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


def cases(kind: str, *pairs: tuple[str, str]) -> str:
    return json.dumps([{"input": a, "output": b, "testtype": kind} for a, b in pairs])


def row(kind: str = "stdin", **changes: Any) -> dict[str, Any]:
    public = cases(kind, ("1 2\n3\n", "6\n") if kind == "stdin" else ("[1, 2]\n3", "6"))
    hidden = cases(kind, ("10 20\n30", "60") if kind == "stdin" else ("[]\n0", "0"))
    return {
        "question_title": "Total",
        "question_content": "Add all numbers.",
        "platform": "atcoder" if kind == "stdin" else "leetcode",
        "question_id": "abc301_a",
        "contest_id": "abc301",
        "contest_date": "2024-08-31T00:00:00",
        "starter_code": ""
        if kind == "stdin"
        else "class Solution:\n    def total(self, a, b):\n        ",
        "difficulty": "easy",
        "public_test_cases": public,
        "private_test_cases": packed(hidden),
        "metadata": "{}" if kind == "stdin" else json.dumps({"func_name": "total"}),
        **changes,
    }


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    sandbox = open_sandbox(load_settings().sandbox, sys.executable)
    yield Judge(sandbox)
    sandbox.close()


@pytest.fixture
def task(jsonl: Write) -> Callable[..., Task]:
    def make(kind: str = "stdin", **changes: Any) -> Task:
        (made,) = load(str(jsonl("test.jsonl", [row(kind, **changes)]))).tasks
        return made

    return make


def test_programs(task: Callable[..., Task]) -> None:
    made = task()
    assert isinstance(made.tests, StdinCases)
    assert (made.tests.inputs, made.tests.compare) == (["1 2\n3\n", "10 20\n30"], "lcb")
    assert (made.task_id, made.metadata.date) == ("abc301_a", "2024-08-31")
    assert (made.limits.wall_seconds, made.tests.max_tests) == (6.0, None)


def test_functions(task: Callable[..., Task], judge: Judge) -> None:
    made = task("functional")
    assert isinstance(made.tests, CallCases)
    assert (made.tests.inputs, made.tests.outputs) == ([[[1, 2], 3], [[], 0]], [6, 0])
    assert "class Solution:" in made.prompt
    source = "class Solution:\n    def total(self, a: List[int], b: int) -> int:\n        return sum(a) + b\n"
    program = Program(source=f"{made.preamble}\n{source}")
    assert isinstance(judge.judge(made, program).verdict, Passed)


def test_hidden_tests_may_be_plain(task: Callable[..., Task]) -> None:
    made = task(private_test_cases=cases("stdin", ("1", "1"), ("2", "2")))
    assert isinstance(made.tests, StdinCases)
    assert len(made.tests.inputs) == 3


@given(st.text())
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_text_is_read_without_unpickling(protocol: int, text: str) -> None:
    assert pickled_string(pickle.dumps(text, protocol)) == text
    assert unpacked(packed(text, protocol)) == text


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return (Path.touch, (self.folder / "ran",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_else_is_ever_unpickled(tmp_path: Path, protocol: int) -> None:
    for value in (Evil(tmp_path), ["[]"], {"a": 1}, 3, None, b"[]", ("[]", Evil(tmp_path))):
        with pytest.raises(BadRow, match=r"holds more than a text|holds no text"):
            unpacked(packed(value, protocol))
    pickle.loads(pickle.dumps(Evil(tmp_path), protocol))
    assert (tmp_path / "ran").exists(), "it would have run"


@given(st.binary())
def test_bytes_that_are_no_pickle(content: bytes) -> None:
    with pytest.raises(BadRow):
        pickled_string(b"\xff" + content)


def test_what_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.benchmarks.livecodebench.MAX_UNPACKED", 1 << 20)
    assert unpacked(packed("[]" + " " * 1000)) == "[]" + " " * 1000
    with pytest.raises(BadRow, match="unpacks to more than"):
        unpacked(packed(" " * (64 << 20)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"private_test_cases": "!"}, "field private_test_cases is not base64 of zlib: "),
        ({"private_test_cases": "AAAA"}, "field private_test_cases is not base64 of zlib: "),
        ({"private_test_cases": packed("x")[:16]}, "field private_test_cases is "),
        ({"private_test_cases": packed("{}")}, "field private_test_cases is not JSON of tests: Expected `array`"),
        ({"private_test_cases": packed("nonsense")}, "field private_test_cases is not JSON of tests: "),
        ({"private_test_cases": packed([1])}, "field private_test_cases holds more than a text: "),
        ({"public_test_cases": "[3]"}, "field public_test_cases is not JSON of tests: Expected `object`"),
        ({"public_test_cases": '[{"input": "1"}]'}, "field test_cases[0].output is missing"),
        ({"metadata": "[]"}, "field metadata is not JSON of tests: "),
        ({"contest_date": "yesterday"}, "field contest_date must begin as 2024-08-31, not 'yesterday'"),
        ({"public_test_cases": "[]", "private_test_cases": "[]"}, "field test_cases has 0 inputs and 0 outputs"),
        ({"question_id": 3}, "field question_id must be a string, not a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    path = jsonl("test.jsonl", [row(question_id="first"), row(**changes)])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value).startswith(f"{path}, line 2: {said}")


def test_a_function_needs_a_name(jsonl: Write) -> None:
    path = jsonl("test.jsonl", [row("functional", metadata="{}")])
    with pytest.raises(InputError, match=r"line 1: field test_cases has tests of a function"):
        load(str(path))


# Right programs that LiveCodeBench's own runner calls wrong: it has no real standard streams

RIGHT = {
    "for line in sys.stdin": "import sys\nprint(sum(int(x) for line in sys.stdin for x in line.split()))",
    "sys.stdin.buffer.readline": (
        "import sys\n"
        "a = sys.stdin.buffer.readline().split()\n"
        "b = sys.stdin.buffer.readline().split()\n"
        "print(sum(map(int, a + b)))"
    ),
    "input() then sys.stdin.read()": (
        "import sys\nfirst = input()\nprint(sum(map(int, (first + ' ' + sys.stdin.read()).split())))"
    ),
    "sys.stdout.buffer.write": (
        "import sys\n"
        "total = sum(map(int, sys.stdin.read().split()))\n"
        "sys.stdout.buffer.write(b'%d\\n' % total)"
    ),
    "module-level global": (
        "global total\n"
        "total = 0\n"
        "def add(x):\n    global total\n    total += x\n"
        "for x in open(0).read().split():\n    add(int(x))\n"
        "print(total)"
    ),
    "os.read and os.write": (
        "import os\nos.write(1, str(sum(map(int, os.read(0, 1000).split()))).encode())"
    ),
    "fileinput": "import fileinput\nprint(sum(int(x) for line in fileinput.input() for x in line.split()))",
    "main guard and exit": (
        "import sys\n"
        "def main():\n    print(sum(map(int, sys.stdin.read().split())))\n    sys.exit(0)\n"
        "if __name__ == '__main__':\n    main()"
    ),
    "a thread with a deep stack": (
        "import sys, threading\n"
        "sys.setrecursionlimit(1 << 20)\n"
        "def main():\n    print(sum(map(int, sys.stdin.read().split())))\n"
        "threading.stack_size(1 << 26)\n"
        "t = threading.Thread(target=main)\nt.start()\nt.join()"
    ),
    "a number spelt otherwise": "import sys\nprint(float(sum(map(int, sys.stdin.read().split()))))",
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_right_programs(task: Callable[..., Task], judge: Judge, source: str) -> None:
    made = task()
    judgement = judge.judge(made, Program(source=f"{made.preamble}\n{source}"))
    assert isinstance(judgement.verdict, Passed), judgement.verdict.detail


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[(1, (2, 3)), (4, ())]", [[1, [2, 3]], [4, []]]),
        ("((1, 2), (3,))", [[1, 2], [3]]),
        ("{'a': (1, (2,))}", {"a": [1, [2]]}),
    ],
)
def test_nested_tuples(
    task: Callable[..., Task], judge: Judge, answer: str, expected: object
) -> None:
    tests = cases("functional", ("0\n0", json.dumps(expected)))
    made = task("functional", public_test_cases=tests, private_test_cases=packed(tests))
    source = f"class Solution:\n    def total(self, a, b):\n        return {answer}\n"
    assert isinstance(judge.judge(made, Program(source=source)).verdict, Passed)


def test_an_object_that_equals_everything_is_wrong(task: Callable[..., Task], judge: Judge) -> None:
    source = (
        "class Yes:\n    def __eq__(self, other): return True\n"
        "class Solution:\n    def total(self, a, b): return Yes()\n"
    )
    verdict = judge.judge(task("functional"), Program(source=source)).verdict
    assert verdict.bucket is Bucket.WRONG_ANSWER


# Releases and dates


@pytest.fixture
def releases(alone: Path, jsonl: Write) -> Path:
    folder = alone / "livecodebench"
    folder.mkdir()
    for number in range(1, 7):
        name = "test.jsonl" if number == 1 else f"test{number}.jsonl"
        made = row(question_id=f"q{number}", contest_date=f"2024-0{number}-15T00:00:00")
        jsonl(name, [made]).rename(folder / name)
    return alone


def chosen(folder: Path, **fields: Any) -> list[str]:
    return list(load("livecodebench", folder, selection=Selection(**fields)).ids)


def test_releases(releases: Path) -> None:
    assert chosen(releases) == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert chosen(releases, release="release_v2") == ["q1", "q2"]
    assert chosen(releases / "livecodebench", release="release_v1") == ["q1"]


def test_dates(releases: Path, proctor: Proctor) -> None:
    samples = releases / "samples.jsonl"
    lines = [
        {"task_id": f"q{n}", "solution": "print(sum(map(int, open(0).read().split())))"}
        for n in range(1, 6)
    ]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = proctor(
        *("score", "livecodebench", "--data", releases, "--completions", samples, "--json"),
        *("--release", "release_v5", "--start-date", "2024-03-15", "--end-date", "2024-04-15"),
        *("--out", releases / "out", "--partial"),
    )
    assert (ran.status, json.loads(ran.out)["passed"]) == (0, 2), ran.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--release", "v9"], "--release v9: livecodebench has release_v1, release_v2, release_v3, release_v4, release_v5, release_v6"),
        (["--start-date", "soon"], "--start-date soon: write it as 2024-08-31"),
        (["--end-date", "2024-13-01"], "--end-date 2024-13-01: write it as 2024-08-31"),
        (["--start-date", "2024-02-01", "--end-date", "2024-01-01"], "--start-date 2024-02-01: is after --end-date 2024-01-01"),
    ],
)  # fmt: skip
def test_bad_flags(releases: Path, proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("run", "livecodebench", "--data", releases, "--model", "reference", *args)
    assert (ran.status, ran.complaint) == (2, said)


def test_dates_with_nothing_in_them_and_tasks_without_any(
    releases: Path, proctor: Proctor, jsonl: Write
) -> None:
    def complaint(*args: object) -> str:
        ran = proctor("run", *args, "--model", "reference")
        assert ran.status == 2
        return str(ran.complaint)

    said = complaint("livecodebench", "--data", releases, "--start-date", "2030-01-01")
    assert said.endswith("none of its 6 tasks is of the dates asked for")
    one = releases / "livecodebench" / "test.jsonl"
    assert complaint("livecodebench", "--data", one, "--release", "release_v1").endswith(
        "is one file"
    )
    plain = jsonl(
        "t.jsonl", [{"task_id": "a", "tests": {"kind": "stdin", "inputs": [""], "outputs": [""]}}]
    )
    assert complaint(plain, "--end-date", "2030-01-01").endswith(
        "line 1: the task has no date to choose it by"
    )
    assert complaint(plain, "--release", "release_v1").endswith("is one file")
    assert complaint("humaneval", "--release", "v1") == "--release v1: humaneval has no releases"
