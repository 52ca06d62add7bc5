"""A task's digest tells it from every other."""

import subprocess
import sys
from typing import Any

import pytest

from proctor.records.limits import Limits
from proctor.records.task import (
    Assertions,
    Benchmark,
    CallCases,
    CheckFunction,
    Metadata,
    ReferenceCases,
    Task,
)

PLAIN = Task(task_id="a", entry_point="f", tests=Assertions(targets=["f(1) == 2"]))
NAN = float("nan")


def calls(inputs: Any, output: Any = 1) -> str:
    return Task(task_id="a", tests=CallCases(fn_name="f", inputs=[inputs], outputs=[output])).sha256


def test_equal_tasks_have_one_digest() -> None:
    again = Task(task_id="a", entry_point="f", tests=Assertions(targets=["f(1) == 2"]))
    assert again.sha256 == PLAIN.sha256
    assert len(PLAIN.sha256) == 64


@pytest.mark.parametrize(
    "other",
    [
        Task(task_id="b", entry_point="f", tests=PLAIN.tests),
        Task(task_id="a", entry_point="g", tests=PLAIN.tests),
        Task(task_id="a", entry_point="f", tests=PLAIN.tests, prompt="p"),
        Task(task_id="a", entry_point="f", tests=Assertions(targets=["f(1) == 3"])),
        Task(task_id="a", entry_point="f", tests=CheckFunction(code="f(1) == 2")),
        Task(task_id="a", entry_point="f", tests=PLAIN.tests, metadata=Metadata(denylist=True)),
        Task(task_id="a", entry_point="f", tests=PLAIN.tests, canonical_solution=""),
        Task(task_id="a", entry_point="f", tests=PLAIN.tests, limits=Limits(open_files=5)),
    ],
)
def test_any_difference_shows(other: Task) -> None:
    assert other.sha256 != PLAIN.sha256


def test_values_that_json_would_confuse_differ() -> None:
    values = [1, 1.0, True, "1", None, NAN, [1], (1,), {1}, frozenset({1}), {"1": 1}, {1: 1}, b"1"]
    values += [{}, set(), [], (), "", "\ud800", 1j, 2**70, 10**5000, -(10**5000), range(1)]
    digests = [calls([value]) for value in values]
    assert len(set(digests)) == len(values)
    assert calls([1], NAN) != calls([1], None)


def test_the_digest_is_the_same_in_every_process() -> None:
    code = (
        "from proctor.records.task import *\n"
        "tests = CallCases(fn_name='f', inputs=[[{'a', 'b', 'c', 'd', 'e'}]], outputs=[{1: 2}])\n"
        "print(Task(task_id='a', tests=tests).sha256)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


def test_the_digest_is_computed_once() -> None:
    big = Task(task_id="a", tests=CallCases(fn_name="f", inputs=[["x" * 10**6]], outputs=[1]))
    assert big.sha256 is big.sha256


def test_a_benchmark_is_its_tasks_in_order() -> None:
    other = Task(task_id="b", tests=PLAIN.tests)
    both = Benchmark(name="x", tasks=[PLAIN, other])
    assert both.sha256 == Benchmark(name="y", tasks=[PLAIN, other], source="z").sha256
    assert both.sha256 != Benchmark(name="x", tasks=[other, PLAIN]).sha256
    assert both.sha256 != Benchmark(name="x", tasks=[PLAIN]).sha256


def test_the_first_tasks_know_of_the_rest() -> None:
    tasks = [Task(task_id=name, tests=PLAIN.tests) for name in "abc"]
    first = Benchmark(name="x", tasks=tasks, aliases={"A": "a"}).first(1)
    assert [task.task_id for task in first.tasks] == ["a"]
    assert first.beyond == {"b", "c"}
    assert first.aliases == {"A": "a"}
    assert first.first(5).beyond == {"b", "c"}


def test_a_time_that_was_asked_for_is_final() -> None:
    tests = ReferenceCases(fn_name="f", inputs=[[1]], patience=4.0)
    task = Task(task_id="a", tests=tests)
    limits = task.limits.with_seconds(1)
    assert task.limited(limits, final=False).tests == tests
    assert task.limited(limits, final=True).tests.patience == 0.0
    assert task.limited(limits, final=True).limits == limits
    assert PLAIN.limited(limits, final=True).tests == PLAIN.tests


def nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = {1: value}
    return value


def test_the_digest_of_deep_values_takes_no_time_to_speak_of() -> None:
    first, second = (
        Task(task_id="a", tests=ReferenceCases(fn_name="f", inputs=[[nested(60, leaf)]])).sha256
        for leaf in ((1,), [1])
    )
    assert first != second
