"""The model that knows the answers."""

import pytest

from proctor.errors import InputError
from proctor.models.prompting import render_prompt
from proctor.models.reference import Reference
from proctor.records.completion import Sampling
from proctor.records.task import Assertions, Benchmark, Task

TASKS = [
    Task(task_id=f"t{n}", prompt="p", tests=Assertions(targets=["f()"]), canonical_solution=f"s{n}")
    for n in range(3)
]


def test_every_task_as_often_as_asked() -> None:
    benchmark = Benchmark(name="b", tasks=TASKS)
    said = list(Reference().complete(benchmark, Sampling(n_samples=2)))
    assert [(one.task_id, one.sample, one.id, one.completion) for one in said] == [
        ("t0", 0, "0_s0", "s0"),
        ("t0", 1, "0_s1", "s0"),
        ("t1", 0, "1_s0", "s1"),
        ("t1", 1, "1_s1", "s1"),
        ("t2", 0, "2_s0", "s2"),
        ("t2", 1, "2_s1", "s2"),
    ]
    assert {one.model for one in said} == {"reference"}
    assert said[0].prompt_sha256 == render_prompt(TASKS[0]).sha256
    assert not said[0].whole


def test_an_empty_solution_is_one() -> None:
    empty = Task(task_id="e", tests=Assertions(targets=["1"]), canonical_solution="")
    (said,) = Reference().complete(Benchmark(name="b", tasks=[empty]), Sampling())
    assert said.completion == ""


def test_a_benchmark_without_solutions() -> None:
    tasks = [*TASKS, Task(task_id="x", tests=Assertions(targets=["1"]))]
    benchmark = Benchmark(name="b", tasks=tasks, source="b.jsonl")
    said = r"^b.jsonl: no canonical_solution in 1 of 4 tasks, the first of which is x$"
    with pytest.raises(InputError, match=said):
        next(Reference().complete(benchmark, Sampling()))
