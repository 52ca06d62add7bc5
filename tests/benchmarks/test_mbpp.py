"""Rows in MBPP's formats, full and sanitized."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.benchmarks.mbpp import aliases, entry_point
from proctor.errors import InputError
from proctor.records.task import Assertions

Write = Callable[..., Path]
FULL: dict[str, Any] = {
    "task_id": 2,
    "text": "Write f.",
    "code": "def f(x): return 2",
    "test_list": ["assert f(1) == 2", "assert f(2) == 2"],
    "test_setup_code": "y = f(0)",
    "challenge_test_list": [],
}
SANITIZED: dict[str, Any] = {
    "source_file": "x",
    "task_id": 3,
    "prompt": "Write g.",
    "code": "def g(x): return 2",
    "test_imports": ["import math"],
    "test_list": ["assert g(1) == 2"],
}


@pytest.mark.parametrize("name", ["mbpp", "mbpp-sanitized"])
def test_the_published_tasks(data: Path, name: str) -> None:
    benchmark = load(name, data)
    for task in benchmark.tasks:
        assert isinstance(task.tests, Assertions)
        assert task.entry_point is not None, task.task_id
        assert f"{task.entry_point}" in task.tests.targets[0]
        assert f"def {task.entry_point}" in (task.canonical_solution or "")
        assert task.limits.wall_seconds == 10.0


def test_the_sanitized_tasks_are_some_of_all(data: Path) -> None:
    every = {task.task_id for task in load("mbpp", data).tasks}
    assert {task.task_id for task in load("mbpp-sanitized", data).tasks} < every


def test_both_formats_in_one_file(jsonl: Write) -> None:
    full, sanitized = load(str(jsonl("m.jsonl", [FULL, SANITIZED]))).tasks
    assert (full.task_id, full.prompt, full.entry_point) == ("MBPP/2", "Write f.", "f")
    assert (sanitized.task_id, sanitized.prompt) == ("MBPP/3", "Write g.")
    assert full.tests.setup == "y = f(0)"
    assert sanitized.tests.setup == "import math"
    assert full.canonical_solution == FULL["code"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"test_list": []}, "test_list is empty"),
        ({"test_list": ["assert f("]}, "test_list[0] is not a Python assertion or expression"),
        ({"test_setup_code": "def"}, "field test_setup_code or test_imports is not Python"),
        ({"test_imports": ["import"]}, "field test_setup_code or test_imports is not Python"),
        ({"task_id": "Mbpp/2"}, "field task_id must be a whole number, not a string"),
        ({"code": None}, "field code must be a string, not null"),
    ],
)
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    path = jsonl("m.jsonl", [SANITIZED, {**FULL, **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, line 2: {said}"


def test_how_others_spell_an_id() -> None:
    assert aliases("MBPP/11") == ["11", "Mbpp/11", "mbpp/11"]


@pytest.mark.parametrize(
    ("code", "test", "name"),
    [
        ("def f(): pass\ndef g(): pass", "assert g(f()) == 1", "g"),
        ("def f(): pass", "assert set(f()) == {1}", "f"),
        ("class F: pass", "assert F().x == 1", "F"),
        ("def sum(x): pass", "assert sum([1]) == 1", "sum"),
        ("def f(): pass", "assert g() == 1", None),
        ("def f(:", "assert f() == 1", None),
        ("f = lambda: 1", "assert f() == 1", None),
    ],
)
def test_the_function_that_is_tested(code: str, test: str, name: str | None) -> None:
    assert entry_point(code, [test]) == name
