"""Columns of training sets: every way in which a row says how it is checked."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.integrations.dataset_columns import (
    answer_of,
    code_prompt,
    entry_of,
    parsed,
    plain,
    task_from_columns,
)
from proctor.records.limits import Limits
from proctor.records.task import Assertions, CallCases, CheckFunction, StdinCases

TARGETS = ["add(1, 2) == 3", "assert add(0, 0) == 0"]
ASSERTIONS = {"kind": "assertions", "targets": TARGETS}
ROW = {"task_id": "mine/1", "tests": ASSERTIONS, "entry_point": "add"}
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n\ncheck(Solution().next)\n"


@pytest.mark.parametrize(
    "row",
    [
        {"task": ROW},
        {"task": json.dumps(ROW)},
        {"tests": ASSERTIONS},
        {"tests": json.dumps(ASSERTIONS)},
        {"tests": TARGETS},
        {"assertions": TARGETS},
        {"assertions": tuple(TARGETS)},
        {"assertions": np.array(TARGETS, dtype=object)},
        {"assertions": json.dumps(TARGETS)},
        {"ground_truth": json.dumps(TARGETS)},
        {"ground_truth": json.dumps(ASSERTIONS)},
        {"ground_truth": json.dumps(ROW)},
        {"ground_truth": {"assert_case": TARGETS}},
        {"ground_truth": {"assert_case": np.array(TARGETS, dtype=object)}},
        # a table has every field of every row, and other columns
        {"tests": {**ASSERTIONS, "code": None, "inputs": None, "setup": None}, "task": None},
        {"assertions": TARGETS, "task_id": "mine/1", "answer": "42", "difficulty": 3},
        {"tests": TARGETS, "ground_truth": "not looked at"},
    ],
)
def test_assertions(row: dict[str, Any]) -> None:
    tests = task_from_columns(row).task.tests
    assert isinstance(tests, Assertions)
    assert list(tests.targets) == TARGETS


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": ["1 2\n", "3\n"], "outputs": ["3\n", "3\n"]},
        {"inputs": '["1 2\\n", "3\\n"]', "outputs": '["3\\n", "3\\n"]'},
        {"ground_truth": {"inputs": ["1 2\n", "3\n"], "outputs": ["3\n", "3\n"]}},
        {"ground_truth": {"inputs": [["1 2", ""], "3\n"], "outputs": ["3\n", ["3", ""]]}},
        {"ground_truth": {"inputs": ["1 2\n", "3\n"], "outputs": ["3\n"] * 2, "fn_name": None}},
        {"tests": [{"input": "1 2\n", "output": "3\n"}, {"input": "3\n", "output": "3\n"}]},
        {"tests": {"kind": "stdin", "inputs": ["1 2\n", "3\n"], "outputs": ["3\n", "3\n"]}},
        {
            "ground_truth": json.dumps(
                [
                    {"input": "1 2\n", "output": "3\n", "testtype": "stdin", "metadata": {}},
                    {"input": "3\n", "output": "3\n", "testtype": "stdin", "metadata": None},
                ]
            )
        },
    ],
)
def test_whole_programs(row: dict[str, Any]) -> None:
    tests = task_from_columns(row).task.tests
    assert isinstance(tests, StdinCases)
    assert (list(tests.inputs), list(tests.outputs)) == (["1 2\n", "3\n"], ["3\n", "3\n"])


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": [[1, {"1": 2}], [[3], None]], "outputs": [[1], True], "fn_name": "f"},
        {"ground_truth": {"inputs": [[1, {"1": 2}], [[3], None]], "outputs": [[1], True], "fn_name": "f"}},
        {"ground_truth": {"inputs": ['1\n{"1": 2}', "[3]\nnull"], "outputs": ["[1]", "true"], "fn_name": "f"}},
        {
            "ground_truth": [
                {"input": '1\n{"1": 2}', "output": "[1]", "testtype": "functional", "metadata": {"func_name": "f"}},
                {"input": "[3]\nnull", "output": "true", "testtype": "functional", "metadata": {"func_name": "f"}},
            ]
        },
    ],
)  # fmt: skip
def test_calls_of_one_function(row: dict[str, Any]) -> None:
    tests = task_from_columns(row).task.tests
    assert isinstance(tests, CallCases)
    assert (tests.fn_name, tests.compare) == ("f", "verl")
    assert [list(arguments) for arguments in tests.inputs] == [[1, {"1": 2}], [[3], None]]
    assert list(tests.outputs) == [[1], True]


def test_integer_keys_come_back() -> None:
    tests = task_from_columns({"inputs": [[{"1": 2}]], "outputs": [3], "fn_name": "f"}).task.tests
    assert isinstance(tests, CallCases)
    assert tests.inputs == [[{1: 2}]]


def test_code_that_checks() -> None:
    task = task_from_columns({"ground_truth": {"functional": CHECK}}).task
    assert (task.entry_point, task.tests) == ("Solution().next", CheckFunction(code=CHECK))
    code = "def check(f):\n    assert f(1) == 2\n"
    assert (
        task_from_columns(
            {"tests": {"kind": "check", "code": code}, "entry_point": "n"}
        ).task.entry_point
        == "n"
    )


@pytest.mark.parametrize(
    ("row", "preamble"),
    [
        ({"ground_truth": {"inputs": ["1\n"], "outputs": ["1\n"]}}, "base"),
        ({"ground_truth": {"functional": CHECK}}, "base"),
        ({"tests": [{"input": "1", "output": "1"}]}, "base"),
        ({"assertions": TARGETS}, "none"),
        ({"tests": ASSERTIONS}, "none"),
        ({"task": ROW}, "none"),
        ({"task_id": "HumanEval/0", "benchmark": "humaneval"}, "none"),
    ],
)
def test_the_usual_imports_are_for_those_who_expect_them(
    row: dict[str, Any], preamble: str
) -> None:
    assert task_from_columns(row).preamble == preamble


def test_ids_may_be_numbers() -> None:
    assert task_from_columns({"assertions": TARGETS, "task_id": 11}).task.task_id == "11"


def test_what_stands_beside_the_tests() -> None:
    beside = {"entry_point": "add", "timeout_s": 7, "canonical_solution": "    return a + b\n"}
    task = task_from_columns(
        {"assertions": TARGETS, "task_id": "mine/1", **beside}, "def add(a, b):\n"
    ).task
    assert (task.task_id, task.prompt, task.entry_point) == ("mine/1", "def add(a, b):\n", "add")
    assert task.limits == Limits().with_seconds(7)
    assert task.canonical_solution == "    return a + b\n"
    assert task_from_columns({"assertions": TARGETS}).task.limits == Limits()


def test_tasks_of_benchmarks() -> None:
    task = task_from_columns({"task_id": "HumanEval/3", "benchmark": "humaneval"}).task
    assert task == load("humaneval").tasks[3]
    assert task is task_from_columns({"task_id": "HumanEval/3", "benchmark": "humaneval"}).task


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "no column says how to check it; one of task, tests, assertions, inputs, ground_truth, task_id must"),
        ({"assertions": None, "prompt": "x"}, "no column says how to check it"),
        ({"tests": "assert f(1)"}, "tests is not JSON (Expecting value: line 1 column 1 (char 0)): 'assert f(1)'"),
        ({"tests": 5}, "tests holds no tests that are known here: 5"),
        ({"tests": {"kind": "magic"}}, "task: Invalid value 'magic' - at `$.tests.kind`"),
        ({"assertions": []}, "assertions holds no tests that are known here: []"),
        ({"assertions": ["f(1) =="]}, "task: tests.targets[0] is not a Python assertion or expression"),
        ({"assertions": ["f(1)", 3]}, "task: Expected `str`, got `int` - at `$.tests.targets[1]`"),
        ({"assertions": TARGETS, "timeout_s": 99}, "task: metadata.timeout_s is 99; it must be above 0 and at most 30"),
        ({"inputs": ["1"], "outputs": None}, "inputs: inputs and outputs must be lists of one length"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "inputs: inputs and outputs must be lists of one length"),
        ({"ground_truth": {"inputs": [3], "outputs": ["3"]}}, "ground_truth: without fn_name, inputs and outputs are texts, not 3"),
        ({"ground_truth": {"inputs": [3], "outputs": ["3"], "fn_name": "f"}}, "ground_truth: the arguments of a call are a list, not 3"),
        ({"ground_truth": {"inputs": ["x"], "outputs": ["3"], "fn_name": "f"}}, "ground_truth: a line of inputs is not JSON"),
        ({"ground_truth": {"inputs": [[1]], "outputs": [1], "fn_name": "f g"}}, "task: tests.fn_name: 'f g' names no function"),
        ({"ground_truth": {"functional": "assert f(1)"}}, "task: entry_point is missing, and tests of kind check need it"),
        ({"ground_truth": {"answer": 42}}, "task: Object missing required field `task_id`"),
        ({"ground_truth": "42"}, "ground_truth holds no tests that are known here: 42"),
        ({"ground_truth": "[" * 100_000}, "ground_truth is not JSON"),
        ({"task_id": "HumanEval/3"}, "task_id 'HumanEval/3' is of no benchmark; give `benchmark`"),
        ({"task_id": "HumanEval/999", "benchmark": "humaneval"}, "task_id: humaneval has no task 'HumanEval/999'"),
        ({"task_id": "1", "benchmark": "nope"}, "nope: no such benchmark or tasks file"),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_one_sentence(row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        task_from_columns(row)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)
NAMES = ("task", "tests", "assertions", "inputs", "outputs", "fn_name", "ground_truth", "task_id", "timeout_s")  # fmt: skip


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_whatever_a_row_holds_is_a_task_or_a_sentence(row: dict[str, Any]) -> None:
    try:
        assert task_from_columns(row).task.tests
    except InputError as error:
        assert str(error)  # noqa: PT017  either may happen


@given(JSON)
def test_plain_values_stay_as_they_are(value: Any) -> None:
    assert repr(plain(value)) == repr(value)
    assert repr(parsed("x", json.dumps(value))) == repr(value)


def test_arrays_become_lists_at_any_depth() -> None:
    deep = {
        "a": np.array([np.array([1, 2]), "x"], dtype=object),
        "b": (np.int64(3), np.float64(0.5)),
    }
    assert plain(deep) == {"a": [[1, 2], "x"], "b": [3, 0.5]}


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("def add(a, b):\n", True),
        ("import math\n", True),
        ("Write a function that adds.", True),
        ("add", False),
        ("3 + 4", False),
        ("", False),
        ([{"role": "user", "content": "def add(a, b):\n"}], False),
        (None, False),
    ],
)
def test_prompts_that_answers_may_continue(prompt: Any, kept: bool) -> None:
    assert code_prompt(prompt) == (prompt if kept else "")


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("x", "x"),
        ([{"role": "assistant", "content": "x"}], "x"),
        ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}, {"role": "assistant", "content": "x"}], "x"),
        ([{"role": "assistant", "content": "x"}, {"role": "tool", "content": "b"}], "x"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "image"}, {"type": "text", "text": "y"}]}], "xy"),
        ([{"role": "assistant", "content": None, "tool_calls": []}], ""),
        ([{"role": "assistant", "content": {"text": "x"}}], ""),
        ([{"role": "user", "content": "b"}], ""),
        ([], ""),
        ([SimpleNamespace(role="assistant", content="x")], "x"),
        ([SimpleNamespace(role="assistant", content=[SimpleNamespace(text="x")])], "x"),
    ],
)  # fmt: skip
def test_what_the_assistant_said_last(completion: Any, text: str) -> None:
    assert answer_of(completion) == text


@pytest.mark.parametrize("completion", [None, 3, {"content": "x"}])
def test_what_is_no_completion(completion: Any) -> None:
    with pytest.raises(InputError, match=r"^a completion is \w+, not text or messages$"):
        answer_of(completion)


def test_what_test_code_checks() -> None:
    assert entry_of(CHECK) == "Solution().next"
    for code in ("", "x = 1", "check()", "check(a, b)", "check(a)\nx = 1", "check(a", None):
        assert entry_of(code) is None


@pytest.mark.parametrize(("name", "kind"), [("code_contests", StdinCases), ("codeforces", StdinCases), ("leetcode", CheckFunction)])  # fmt: skip
def test_rows_of_real_training_sets(data: Path, name: str, kind: type) -> None:
    with gzip.open(data / "contests" / f"{name}.json.gz", "rt") as file:
        rows = json.load(file)
    tasks = [task_from_columns({"ground_truth": json.dumps(row["tests"])}).task for row in rows]
    assert len(tasks) > 100
    assert all(isinstance(task.tests, kind) for task in tasks)
