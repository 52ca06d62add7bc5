"""Rows of contest problems, in all the forms that people publish them in."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import process_input_output
from proctor.benchmarks import load
from proctor.benchmarks.contest_rows import MAX_TESTS
from proctor.errors import InputError
from proctor.extraction.assemble import reference_program
from proctor.judge.judge import Judge
from proctor.judge.judgement import Rules
from proctor.records.limits import GIB
from proctor.records.program import Program
from proctor.records.task import CallCases, StdinCases, Task
from proctor.records.verdict import Bucket, Passed
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import load_settings

Write = Callable[..., Path]
SOLUTIONS = sorted((Path(__file__).parent / "solutions").glob("*/*.py"))
STDIN = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
CALLS = {"inputs": [[1, 2], [3, 4]], "outputs": [3, 7], "fn_name": "add"}
LISTED = [{"input": "1 2", "output": "3"}, {"input": "3 4", "output": "7"}]
LISTED_CALLS = [
    {"input": "1\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "add"}}
]


def loaded(jsonl: Write, *rows: dict[str, Any]) -> list[Task]:
    return list(load(str(jsonl("problems.jsonl", rows))).tasks)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    sandbox: Sandbox = open_sandbox(load_settings().sandbox, sys.executable)
    yield Judge(sandbox)
    sandbox.close()


@pytest.mark.parametrize(
    "tests",
    [
        {"tests": STDIN},
        {"tests": json.dumps(STDIN)},
        {"tests": str(STDIN)},
        {"tests": LISTED},
        {"tests": [{**test, "type": "stdin_stdout", "fn_name": None} for test in LISTED]},
        {"input_output": json.dumps(STDIN)},
        {"input_output": {**STDIN, "fn_name": None}},
        {"verification_info": {"language": "python", "test_cases": LISTED}},
        {"verification_info": json.dumps({"test_cases": LISTED})},
        {"tests": {"inputs": [["1 2"], ["3 4"]], "outputs": [["3"], ["7"]]}},
    ],
)
def test_programs(jsonl: Write, judge: Judge, tests: dict[str, Any]) -> None:
    (task,) = loaded(jsonl, {"problem": "Add.", **tests})
    assert isinstance(task.tests, StdinCases)
    assert [text.strip() for text in task.tests.inputs] == ["1 2", "3 4"]
    assert (task.task_id, task.tests.max_tests) == ("problems/0", 15)
    assert (task.limits.memory_bytes, task.limits.wall_seconds) == (10 * GIB, 12)
    right = Program(source="print(sum(map(int, input().split())))")
    assert isinstance(judge.judge(task, right).verdict, Passed)
    wrong = Program(source="print(max(map(int, input().split())))")
    assert judge.judge(task, wrong).verdict.bucket is Bucket.WRONG_ANSWER


@pytest.mark.parametrize(
    "tests",
    [
        {"tests": CALLS},
        {"input_output": json.dumps(CALLS)},
        {"tests": {**CALLS, "outputs": [[3], [7]]}},  # wrapped, as APPS has some
        {"tests": LISTED_CALLS},
        {"tests": [{"input": [1, 2], "output": 3, "fn_name": "add", "type": "function_call"}]},
        {"verification_info": str({"test_cases": LISTED_CALLS})},
    ],
)
@pytest.mark.parametrize(
    "source",
    [
        "def add(a, b):\n    return a + b\n",
        "class Solution:\n    def add(self, a: int, b: Optional[int]):\n        return a + b\n",
    ],
)
def test_functions(jsonl: Write, judge: Judge, tests: dict[str, Any], source: str) -> None:
    (task,) = loaded(jsonl, {"question": "Add.", "starter_code": "def add(a, b):", **tests})
    assert isinstance(task.tests, CallCases)
    assert (task.tests.fn_name, task.tests.compare) == ("add", "verl")
    assert "def add(a, b):" in task.prompt
    program = Program(source=f"{task.preamble}\n{source}")
    assert isinstance(judge.judge(task, program).verdict, Passed)
    wrong = Program(source="def add(a, b):\n    return a\n")
    assert judge.judge(task, wrong).verdict.bucket is Bucket.WRONG_ANSWER


def test_a_method_is_called_on_a_fresh_object(jsonl: Write, judge: Judge) -> None:
    (task,) = loaded(jsonl, {"problem": "Add.", "tests": CALLS})
    source = (
        "class Solution:\n"
        "    def __init__(self): self.calls = 0\n"
        "    def add(self, a, b):\n"
        "        self.calls += 1\n"
        "        return a + b + self.calls - 1\n"
    )
    assert isinstance(judge.judge(task, Program(source=source)).verdict, Passed)


def test_integer_keys_of_arguments_and_answers(jsonl: Write, judge: Judge) -> None:
    tests = {"inputs": [[{"1": 2}]], "outputs": [{"2": 1}], "fn_name": "swap"}
    (task,) = loaded(jsonl, {"problem": "Swap.", "tests": tests})
    source = "def swap(d):\n    assert all(type(k) is int for k in d)\n    return {v: k for k, v in d.items()}\n"
    assert isinstance(judge.judge(task, Program(source=source)).verdict, Passed)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"solutions": ["print(1)", "print(2)"]}, "print(1)"),
        ({"solutions": json.dumps(["print(1)"])}, "print(1)"),
        ({"solutions": "print(1)"}, "print(1)"),
        ({"gold_standard_solution": "print(1)"}, "print(1)"),
        ({"solutions": []}, None),
        ({}, None),
    ],
)
def test_solutions(jsonl: Write, fields: dict[str, Any], expected: str | None) -> None:
    (task,) = loaded(jsonl, {"problem": "Print 1.", "tests": STDIN, **fields})
    assert task.canonical_solution == expected


def test_names(jsonl: Write) -> None:
    rows = [{"problem": "x", "tests": STDIN, "problem_id": name} for name in ("one", 7, None, "")]
    tasks = loaded(jsonl, *rows)
    assert [task.task_id for task in tasks] == ["one", "problems/7", "problems/2", "problems/3"]
    assert load(str(jsonl("problems.jsonl", rows))).aliases["7"] == "problems/7"


def test_at_most_so_many_tests_the_longest_first(jsonl: Write, judge: Judge) -> None:
    numbers = [10 ** (n % 7) for n in range(40)]
    tests = {"inputs": [str(n) for n in numbers], "outputs": [str(n) for n in numbers]}
    (task,) = loaded(jsonl, {"problem": "Echo.", "tests": tests})
    echo = Program(source="print(input())")
    judgement = judge.judge(task, echo)
    lengths = [len(str(numbers[test.index])) for test in judgement.verdict.tests]
    assert len(lengths) == MAX_TESTS
    assert lengths == sorted((len(str(n)) for n in numbers), reverse=True)[:MAX_TESTS]
    more = Judge(judge._sandbox, Rules(max_tests=100)).judge(task, echo)
    assert [test.index for test in more.verdict.tests] == list(range(40))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tests": None}, "there is no field tests, input_output, verification_info or test_cases"),
        ({"tests": "{"}, "field tests is neither JSON nor a Python literal: '{'"),
        ({"tests": "print(1)"}, "field tests is neither JSON nor a Python literal: 'print(1)'"),
        ({"tests": "[" * 100_000}, "field tests is neither JSON nor a Python literal: '[[["),
        ({"tests": 3}, "field tests has neither inputs and outputs nor a list of tests"),
        ({"tests": {"inputs": ["1"]}}, "field tests has neither inputs and outputs nor a list of tests"),
        ({"tests": {"inputs": ["1"], "outputs": []}}, "field tests has 1 inputs and 0 outputs"),
        ({"tests": []}, "field tests has 0 inputs and 0 outputs"),
        ({"tests": [{"input": "1"}]}, "field tests[0].output is missing"),
        ({"tests": {"inputs": [3], "outputs": ["3"]}}, "field tests.inputs[0] must be text, not 3"),
        ({"tests": {**CALLS, "fn_name": "a b"}}, "field tests: 'a b' names no function"),
        ({"tests": {**CALLS, "fn_name": 3}}, "field tests: 3 names no function"),
        ({"tests": {**CALLS, "inputs": ["1\nx", "1"]}}, "field tests.inputs[0] is not JSON, one value a line: 'x'"),
        ({"tests": [*LISTED, *LISTED_CALLS]}, "field tests has tests of several functions"),
        ({"problem": ""}, "there is no field problem, question, prompt or question_content"),
        ({"problem": 3}, "field problem must be text, not 3"),
        ({"solutions": "[1"}, "field solutions is neither JSON nor a Python literal: '[1'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    row = {"problem": "Add.", "tests": STDIN}
    path = jsonl("p.jsonl", [row, {**row, **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value).startswith(f"{path}, line 2: {said}")


# The real problems, with programs that we wrote


@pytest.mark.parametrize("file", SOLUTIONS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_right_programs_pass(data: Path, judge: Judge, file: Path) -> None:
    find = load(file.parent.name, data).finder()
    task = find(f"{file.parent.name}/{file.stem}")
    verdict = judge.judge(task, Program(source=f"{task.preamble}\n{file.read_text()}")).verdict
    assert isinstance(verdict, Passed), verdict.detail


def test_a_problem_with_many_right_answers(data: Path, judge: Judge) -> None:
    """CodeContests asks for any a, b and c that add up to n where c is the gcd of the others."""
    task = load("code_contests", data).finder()("code_contests/128")
    source = (
        "from math import gcd\n"
        "for _ in range(int(input())):\n"
        "    n = int(input())\n"
        "    a = next(a for a in range(3, n) if a != n - 1 - a > 1 and gcd(a, n - 1 - a) == 1)\n"
        "    print(a, n - 1 - a, 1)\n"
    )
    checker = (
        "from math import gcd\n"
        "def check(input, expected, got):\n"
        "    numbers = list(map(int, input.split()))[1:]\n"
        "    answers = [list(map(int, line.split())) for line in got.strip().splitlines()]\n"
        "    return len(answers) == len(numbers) and all(\n"
        "        len({a, b, c}) == 3 and min(a, b, c) > 0 and a + b + c == n and gcd(a, b) == c\n"
        "        for n, (a, b, c) in zip(numbers, answers)\n"
        "    )\n"
    )
    program = Program(source=source)
    assert judge.judge(task, program).verdict.bucket is Bucket.WRONG_ANSWER
    checked = Judge(judge._sandbox, Rules(checker=checker))
    assert isinstance(checked.judge(task, program).verdict, Passed)
    cheat = Program(source=source.replace("print(a, n - 1 - a, 1)", "print(a, n - a - 2, 2)"))
    assert checked.judge(task, cheat).verdict.bucket is Bucket.WRONG_ANSWER


def test_there_are_no_references_here(data: Path) -> None:
    assert all(reference_program(task) is None for task in load("codeforces", data).tasks)


# What users of the family call


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ([{"1": "a"}], [{"2": "b"}], ([{1: "a"}], [{2: "b"}])),
        ({"1": "a"}, {"2": "b"}, ({1: "a"}, {2: "b"})),
        ([{"1": "a"}, {"3": "c"}], {"2": "b"}, ([{1: "a"}, {3: "c"}], {2: "b"})),
        ([{"1": {"2": 3}}], [1], ([{1: {"2": 3}}], [1])),
        ([{"-1": 0}], [{"+2": 0}], ([{-1: 0}], [{2: 0}])),
        ([{"a": 1}], {"b": 2}, ([{"a": 1}], {"b": 2})),
        ([{"1": 1, "a": 2}], [{"1": 1, "b": 2}], ([{"1": 1, "a": 2}], [{"1": 1, "b": 2}])),
        ([{}], {}, ([{}], {})),
        ([], [], ([], [])),
        ([1, {"1": 2}], [1, {"1": 2}], ([1, {"1": 2}], [1, {"1": 2}])),
        ([{"1": 2}, 3], [{"1": 2}, 3], ([{1: 2}, 3], [{1: 2}, 3])),
        ("1 2\n", "3\n", ("1 2\n", "3\n")),
        (None, None, (None, None)),
    ],
)
def test_process_input_output_restores_integer_keys(
    inputs: Any, outputs: Any, expected: Any
) -> None:
    assert process_input_output(inputs, outputs) == expected


def test_nothing_given_is_changed() -> None:
    inputs, outputs = [{"1": 2}], {"3": 4}
    process_input_output(inputs, outputs)
    assert (inputs, outputs) == ([{"1": 2}], {"3": 4})
