"""Rows in HumanEval's format."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.records.task import CheckFunction

Write = Callable[..., Path]
ROW: dict[str, Any] = {
    "task_id": "H/0",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "canonical_solution": "    return 2\n",
}


def test_the_published_tasks(data: Path) -> None:
    benchmark = load("humaneval", data)
    assert [task.task_id for task in benchmark.tasks] == [f"HumanEval/{n}" for n in range(164)]
    for task in benchmark.tasks:
        assert isinstance(task.tests, CheckFunction)
        assert task.entry_point is not None
        assert f"def {task.entry_point}(" in task.prompt
        assert "def check(" in task.tests.code


def test_fields_that_are_not_needed_may_be_missing(jsonl: Write) -> None:
    row = {name: value for name, value in ROW.items() if name != "canonical_solution"}
    (task,) = load(str(jsonl("h.jsonl", [row]))).tasks
    assert task.canonical_solution is None


def test_an_expression_as_entry_point(jsonl: Write) -> None:
    """LeetCodeDataset has `Solution().name`."""
    (task,) = load(str(jsonl("h.jsonl", [{**ROW, "entry_point": "Solution().f"}]))).tasks
    assert task.entry_point == "Solution().f"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"test": "def check(:"}, "field test is not Python that defines check(candidate)"),
        ({"test": "x = 1"}, "field test is not Python that defines check(candidate)"),
        ({"entry_point": "f g"}, "field entry_point: 'f g' names no function"),
        ({"prompt": 3}, "field prompt must be a string, not a whole number"),
        ({"task_id": None}, "field task_id must be a string, not null"),
    ],
)
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    path = jsonl("h.jsonl", [ROW, {**ROW, **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, line 2: {said}"
