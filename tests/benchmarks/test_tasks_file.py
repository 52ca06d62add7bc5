"""Tasks files: what can be judged is read, what cannot is refused by its field."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.benchmarks.tasks_file import is_expression
from proctor.errors import InputError
from proctor.records.task import Assertions, CallCases, CheckFunction, StdinCases, Task, UnitTests
from proctor.records.verdict import Bucket

Write = Callable[..., Path]
KINDS: dict[str, dict[str, Any]] = {
    "assertions": {"targets": ["add(1, 2) == 3", "assert add(0, 0) == 0"]},
    "check": {"code": "def check(candidate):\n    assert candidate(1, 2) == 3\n"},
    "calls": {"fn_name": "add", "inputs": [[1, 2], [0, 0]], "outputs": [3, 0]},
    "stdin": {"inputs": ["1 2\n"], "outputs": ["3\n"]},
    "unittest": {"code": "def test_add():\n    assert add(1, 2) == 3\n"},
}


def row(kind: str = "assertions", /, **changes: Any) -> dict[str, Any]:
    """Return the row of the documentation; `tests__x` and `metadata__x` reach inside."""
    made: dict[str, Any] = {
        "task_id": "demo/1",
        "language": "python",
        "prompt": "def add(a, b):\n",
        "entry_point": "add",
        "tests": {"kind": kind, **KINDS.get(kind, {})},
        "metadata": {"timeout_s": 3, "difficulty": "easy"},
        "canonical_solution": "    return a + b\n",
    }
    made = copy.deepcopy(made)
    for name, value in changes.items():
        outer, _, inner = name.partition("__")
        (made[outer] if inner else made).__setitem__(inner or outer, value)
    return made


def read(write: Write, *rows: Any) -> list[Task]:
    return list(load(str(write("t.jsonl", rows))).tasks)


def refused(write: Write, bad: Any) -> str:
    other = row(task_id="demo/0")
    with pytest.raises(InputError) as caught:
        read(write, other, bad)
    said = str(caught.value)
    assert "t.jsonl, line 2: " in said
    return said.partition("t.jsonl, line 2: ")[2]


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("assertions", Assertions),
        ("check", CheckFunction),
        ("calls", CallCases),
        ("stdin", StdinCases),
        ("unittest", UnitTests),
    ],
)
def test_every_kind(jsonl: Write, kind: str, record: type) -> None:
    (task,) = read(jsonl, row(kind))
    assert isinstance(task.tests, record)
    assert (task.task_id, task.entry_point, task.language) == ("demo/1", "add", "python")
    assert task.metadata.difficulty == "easy"
    assert (task.limits.cpu_seconds, task.limits.wall_seconds) == (3.0, 3.0)


def test_little_is_needed(jsonl: Write) -> None:
    (task,) = read(jsonl, {"task_id": "x", "tests": {"kind": "assertions", "targets": ["f()"]}})
    assert (task.prompt, task.entry_point, task.canonical_solution) == ("", None, None)
    assert task.limits.wall_seconds == 3.0


def test_values_come_as_they_are(jsonl: Write) -> None:
    cases = [[2**80, 1.5, None, True, "é\ud83d", {"1": [2]}], [[]]]
    (task,) = read(jsonl, row("calls", tests__inputs=cases))
    assert isinstance(task.tests, CallCases)
    assert task.tests.inputs == cases


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_id": ""}, "task_id is empty"),
        ({"task_id": 3}, "field task_id must be a string, not a whole number"),
        ({"prompt": None}, "field prompt must be a string, not null"),
        ({"language": "cobol"}, "language is 'cobol'; known are python, bash, c, cpp, go, java, javascript, rust, typescript"),
        ({"schema": 2}, "schema is 2; this version knows 1"),
        ({"entry_point": "add("}, "entry_point: 'add(' names no function"),
        ({"entry_point": ""}, "entry_point: '' names no function"),
        ({"entry_point": "import os"}, "entry_point: 'import os' names no function"),
        ({"tests": []}, "field tests must be an object, not an array"),
        ({"tests__kind": "vibes"}, "field tests.kind cannot be 'vibes'"),
        ({"tests__setup": "def"}, "tests.setup is not Python"),
        ({"metadata__timeout_s": "3"}, "field metadata.timeout_s must be a number or null, not a string"),
        ({"metadata__denylist": 1}, "field metadata.denylist must be true or false, not a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_task(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    assert refused(jsonl, row(**changes)) == said


@pytest.mark.parametrize("seconds", [0, -1, 30.001, 31, 1e9])
def test_too_long_or_too_short_a_time(jsonl: Write, seconds: float) -> None:
    assert refused(jsonl, row(metadata__timeout_s=seconds)) == (
        f"metadata.timeout_s is {seconds:g}; it must be above 0 and at most 30"
    )


@pytest.mark.parametrize("seconds", [30, 0.001])
def test_the_longest_and_the_shortest_time(jsonl: Write, seconds: float) -> None:
    assert read(jsonl, row(metadata__timeout_s=seconds))[0].limits.wall_seconds == seconds


NO_CHECKER = "tests.compare.checker is not Python that defines check(input, expected, got)"
NO_CHECK = "tests.code is not Python that defines check(candidate)"
NO_TESTS = "tests.code is not Python that declares tests, as unittest or pytest have them"
NO_MEANING = "tests.compare has no meaning here: assertions compare by themselves"


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("assertions", {"targets": []}, "tests.targets is empty"),
        ("assertions", {"targets": ["f()", "assert"]}, "tests.targets[1] is not a Python assertion or expression"),
        ("assertions", {"targets": [" "]}, "tests.targets[0] is not a Python assertion or expression"),
        ("assertions", {"targets": ["# f()"]}, "tests.targets[0] is not a Python assertion or expression"),
        ("assertions", {"targets": ["\0"]}, "tests.targets[0] is not a Python assertion or expression"),
        ("assertions", {"targets": ["(" * 500]}, "tests.targets[0] is not a Python assertion or expression"),
        ("assertions", {"targets": "f()"}, "field tests.targets must be an array, not a string"),
        ("assertions", {"targets": [1]}, "field tests.targets[0] must be a string, not a whole number"),
        ("assertions", {"compare": "exact"}, NO_MEANING),
        ("check", {"compare": "exact"}, NO_MEANING),
        ("check", {"code": "def"}, NO_CHECK),
        ("check", {"code": ""}, NO_CHECK),
        ("check", {"code": "def test(candidate): pass"}, NO_CHECK),
        ("calls", {"inputs": []}, "tests.inputs is empty"),
        ("calls", {"outputs": [3]}, "tests has 2 inputs but 1 outputs"),
        ("calls", {"kwargs": [{}]}, "tests has 2 inputs but 1 kwargs"),
        ("calls", {"inputs": [1, 2]}, "field tests.inputs[0] must be an array, not a whole number"),
        ("calls", {"fn_name": "a b"}, "tests.fn_name: 'a b' names no function"),
        ("calls", {"compare_argument": 2}, "tests.compare_argument is 2, but inputs[0] has 2"),
        ("calls", {"compare_argument": -1}, "tests.compare_argument is -1, but inputs[0] has 2"),
        ("calls", {"compare": {"checker": "x"}}, NO_CHECKER),
        ("stdin", {"compare": {"checker": "def check("}}, NO_CHECKER),
        ("stdin", {"compare": {"check": "x"}}, 'tests.compare must be the name of a profile or {"checker": code}'),
        ("stdin", {"max_tests": 0}, "tests.max_tests is 0; it must be above 0"),
        ("unittest", {"code": "def"}, NO_TESTS),
        ("unittest", {"code": ""}, NO_TESTS),
        ("unittest", {"code": "class A:\n    def check(self): pass"}, NO_TESTS),
        ("unittest", {"compare": "exact"}, NO_MEANING),
        ("stdin", {"inputs": []}, "tests.inputs is empty"),
        ("stdin", {"outputs": []}, "tests has 1 inputs but 0 outputs"),
        ("stdin", {"inputs": [3]}, "field tests.inputs[0] must be a string, not a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_tests(
    jsonl: Write, kind: str, changes: dict[str, Any], said: str
) -> None:
    changed = {f"tests__{name}": value for name, value in changes.items()}
    assert refused(jsonl, row(kind, **changed)) == said


def test_a_comparator_nobody_knows(jsonl: Write) -> None:
    """It must not wait for the run, where it would look like the candidate's fault."""
    for kind in ("calls", "stdin"):
        said = refused(jsonl, row(kind, tests__compare="fuzzy"))
        assert said.startswith("tests.compare 'fuzzy': no such profile; known are exact")
        assert read(jsonl, row(kind, tests__compare="float(1e-6, 0)"))


def test_a_check_needs_an_entry_point(jsonl: Write) -> None:
    bad = row("check")
    del bad["entry_point"]
    assert refused(jsonl, bad) == "entry_point is missing, and tests of kind check need it"


def test_kinds_that_a_language_has_not(jsonl: Write) -> None:
    assert refused(jsonl, row("program", tests__code="x")) == (
        "tests.kind is 'program'; in Python there are assertions, check, calls, stdin, unittest"
    )
    assert refused(jsonl, row("assertions", language="cpp")) == (
        "tests.kind is 'assertions'; in cpp there are stdin and program"
    )
    assert refused(jsonl, row("program", tests__code="int x;", language="cpp")) == (
        "tests.code has no test function"
    )
    assert refused(jsonl, row("program", tests__code="x", language="bash")) == (
        "tests.kind is 'program'; in bash there is stdin only"
    )


def test_wrong_solutions(jsonl: Write) -> None:
    given = [{"name": "lazy", "code": "x"}, {"name": "slow", "code": "y", "bucket": "cpu_time"}]
    (task,) = read(jsonl, row(wrong_solutions=given))
    assert [(wrong.name, wrong.code, wrong.bucket) for wrong in task.wrong_solutions] == [
        ("lazy", "x", Bucket.WRONG_ANSWER),
        ("slow", "y", Bucket.CPU_TIME),
    ]
    assert task.sha256 != read(jsonl, row())[0].sha256


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bucket": "passed"}, "wrong_solutions[0].bucket is passed, which rejects nothing"),
        ({"bucket": "harness"}, "wrong_solutions[0].bucket is harness, which rejects nothing"),
        ({"bucket": "bad"}, "field wrong_solutions[0].bucket cannot be 'bad'"),
        ({"code": 3}, "field wrong_solutions[0].code must be a string, not a whole number"),
    ],
)
def test_what_is_wrong_with_a_wrong_solution(
    jsonl: Write, changes: dict[str, Any], said: str
) -> None:
    bad = {"name": "lazy", "code": "x", **changes}
    assert refused(jsonl, row(wrong_solutions=[bad])) == said


def test_tasks_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    task = """
        [[task]]
        task_id = "demo/1"
        tests = { kind = "assertions", targets = ["f(1) == 2"] }
    """
    path.write_text(task)
    benchmark = load(str(path))
    assert (benchmark.name, [task.task_id for task in benchmark.tasks]) == ("mine", ["demo/1"])
    path.write_text(task + task)
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, task 2: task_id 'demo/1' stands in task 1 already"


def test_nothing_hostile_gets_into_a_message(jsonl: Write) -> None:
    said = refused(jsonl, row(language="\x1b[2J" + "x" * 100_000))
    assert said.isprintable()
    assert len(said) < 200


def test_unknown_fields_are_no_harm(jsonl: Write) -> None:
    assert read(jsonl, row(source="somewhere", metadata={"contest": 3}))


@pytest.mark.parametrize("text", ["add", " add ", "Solution().add", "a.b.c", "lambda x: x"])
def test_expressions(text: str) -> None:
    assert is_expression(text)


def test_the_row_of_the_documentation_is_valid(jsonl: Write) -> None:
    text = json.dumps(row())
    assert len(read(jsonl, json.loads(text))) == 1
