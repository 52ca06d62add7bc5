"""Rows of LeetCode problems in both formats."""

import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.benchmarks.selection import Selection
from proctor.errors import InputError
from proctor.extraction import extract
from proctor.extraction.assemble import assemble, reference_program
from proctor.judge.judge import Judge
from proctor.records.program import Program
from proctor.records.task import CheckFunction, Task
from proctor.records.verdict import Bucket, Passed
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import load_settings

Write = Callable[..., Path]
SOLUTION = (
    "class Solution:\n    def twice(self, x: List[int]) -> List[int]:\n        return x + x\n"
)
CHECK = "def check(candidate):\n    assert candidate(x = [1]) == [1, 1]\n    assert candidate(x=[]) == []\n"
PUBLISHED: dict[str, Any] = {
    "task_id": "twice",
    "question_id": 1,
    "difficulty": "Easy",
    "tags": ["Array"],
    "problem_description": "Repeat a list.",
    "starter_code": "class Solution:\n    def twice(self, x: List[int]) -> List[int]:\n        ",
    "estimated_date": "2024-08-04",
    "prompt": "from typing import *\n\nclass Node:\n    def __init__(self, value):\n        self.value = value\n",
    "completion": SOLUTION,
    "entry_point": "Solution().twice",
    "test": CHECK,
    "input_output": [{"input": "x = [1]", "output": "[1, 1]"}],
    "query": "Repeat a list, please.",
}
PLAIN: dict[str, Any] = {
    "problem": "Repeat a list.\n```python\nclass Solution:\n    def twice(self, x):\n```",
    "solutions": SOLUTION,
    "tests": {"functional": f"{CHECK}\n\ncheck(Solution().twice)"},
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    sandbox = open_sandbox(load_settings().sandbox, sys.executable, wished=("sortedcontainers",))
    yield Judge(sandbox)
    sandbox.close()


def loaded(jsonl: Write, row: dict[str, Any]) -> Task:
    (task,) = load(str(jsonl("rows.jsonl", [row]))).tasks
    return task


@pytest.mark.parametrize("row", [PUBLISHED, PLAIN], ids=["published", "plain"])
def test_both_formats(jsonl: Write, judge: Judge, row: dict[str, Any]) -> None:
    task = loaded(jsonl, row)
    assert isinstance(task.tests, CheckFunction)
    assert task.entry_point == "Solution().twice"
    solution = reference_program(task)
    assert solution is not None
    judgement = judge.judge(task, solution)
    assert (judgement.verdict.bucket, judgement.judged) == (Bucket.PASSED, "apart")
    assert len(judgement.verdict.tests) == 2
    wrong = Program(source="class Solution:\n    def twice(self, x): return x\n")
    assert judge.judge(task, wrong).verdict.bucket is Bucket.WRONG_ANSWER


def test_what_the_model_is_shown_and_what_stands_in_front(jsonl: Write) -> None:
    task = loaded(jsonl, PUBLISHED)
    assert (task.prompt, task.preamble) == ("Repeat a list, please.", PUBLISHED["prompt"])
    assert (task.metadata.difficulty, task.metadata.date) == ("Easy", "2024-08-04")
    bare = loaded(jsonl, {**PUBLISHED, "query": ""})
    assert bare.prompt.startswith("Repeat a list.")
    assert "def twice" in bare.prompt
    answer = extract(f"Sure:\n```python\n{SOLUTION}```", task, truncated=False)
    assert assemble(task, answer).source == f"{PUBLISHED['prompt'].rstrip()}\n{SOLUTION}"


def test_an_answer_may_use_what_stands_in_front(jsonl: Write, judge: Judge) -> None:
    task = loaded(jsonl, PUBLISHED)
    source = "class Solution:\n    def twice(self, x):\n        return 2 * Node(x).value\n"
    answer = extract(source, task, truncated=False)
    assert isinstance(judge.judge(task, assemble(task, answer)).verdict, Passed)


def test_a_task_is_called_by_its_place(jsonl: Write) -> None:
    benchmark = load(str(jsonl("rows.jsonl", [PLAIN, PLAIN])))
    assert list(benchmark.ids) == ["leetcode/0", "leetcode/1"]
    assert benchmark.aliases["1"] == "leetcode/1"
    assert benchmark.packages == ("sortedcontainers",)


@pytest.mark.parametrize(
    ("row", "changes", "said"),
    [
        (PUBLISHED, {"test": "x = 1"}, "field test is not Python that defines check(candidate)"),
        (PUBLISHED, {"entry_point": "a b"}, "field entry_point: 'a b' names no function"),
        (PUBLISHED, {"prompt": "from"}, "field prompt is not Python"),
        (PUBLISHED, {"estimated_date": "x"}, "field estimated_date must be as 2024-08-31, not 'x'"),
        (PUBLISHED, {"tags": "x"}, "field tags must be an array, not a string"),
        (PLAIN, {"tests": {"functional": CHECK}}, "field tests.functional is not Python that defines check(candidate) and calls it"),
        (PLAIN, {"tests": {"functional": "check(Solution().twice)"}}, "field tests.functional is not Python that defines check(candidate) and calls it"),
        (PLAIN, {"tests": {"functional": "def"}}, "field tests.functional is not Python that defines check(candidate) and calls it"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row(
    jsonl: Write, row: dict[str, Any], changes: dict[str, Any], said: str
) -> None:
    path = jsonl("rows.jsonl", [{**row, "task_id": "first"}, {**row, **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, line 2: {said}"


# The real problems


def failures(judge: Judge, tasks: list[Task]) -> dict[str, str]:
    found = {}
    for task in tasks:
        solution = reference_program(task)
        assert solution is not None
        verdict = judge.judge(task, solution).verdict
        if not isinstance(verdict, Passed):
            found[task.task_id] = verdict.detail
    return found


def test_some_references_pass(data: Path, judge: Judge) -> None:
    plain = list(load("contests-leetcode", data).tasks)
    assert not failures(judge, [*plain[::20], plain[126], plain[157]])
    # one that needs a package, one whose test makes a tree, and a few others
    wanted = {
        "find-x-sum-of-all-k-long-subarrays-i",
        "k-th-largest-perfect-subtree-size-in-binary-tree",
    }
    published = list(load("leetcode", data).tasks)
    chosen = [task for task in published if task.task_id in wanted]
    assert len(chosen) == 2
    quick = sorted(published, key=lambda task: len(task.tests.code))[:10]
    assert not failures(judge, [*chosen, *quick])


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["leetcode", "contests-leetcode"])
def test_all_references_pass(data: Path, judge: Judge, name: str) -> None:
    assert not failures(judge, list(load(name, data).tasks))


def test_problems_by_date(jsonl: Write) -> None:
    days = ("2024-12-31", "2025-01-01", "2025-03-30")
    rows = [{**PUBLISHED, "task_id": day, "estimated_date": day} for day in days]
    selection = Selection(start=date(2025, 1, 1), end=date(2025, 3, 29))
    benchmark = load(str(jsonl("rows.jsonl", rows)), selection=selection)
    assert list(benchmark.ids) == ["2025-01-01"]
    assert benchmark.beyond == {"2024-12-31", "2025-03-30"}
    assert benchmark.first(0).beyond == set(days)
