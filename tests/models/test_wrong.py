"""The model that is always wrong."""

import pytest

from proctor.errors import InputError
from proctor.models.prompting import render_prompt
from proctor.models.wrong import Wrong
from proctor.records.completion import Sampling
from proctor.records.task import Assertions, Benchmark, Task, WrongSolution
from proctor.records.verdict import Bucket

LAZY = WrongSolution(name="lazy", code="pass")
SLOW = WrongSolution(name="slow", code="while 1: pass", bucket=Bucket.CPU_TIME)


def task(name: str, *wrong: WrongSolution) -> Task:
    return Task(task_id=name, prompt="p", tests=Assertions(targets=["f()"]), wrong_solutions=wrong)


def test_every_wrong_solution_once() -> None:
    tasks = [task("a", LAZY, SLOW), task("b", SLOW)]
    benchmark = Benchmark(name="b", tasks=tasks)
    said = list(Wrong().complete(benchmark, Sampling(n_samples=5)))
    assert [(one.task_id, one.sample, one.id, one.completion) for one in said] == [
        ("a", 0, "0_s0", "pass"),
        ("a", 1, "0_s1", "while 1: pass"),
        ("b", 0, "1_s0", "while 1: pass"),
    ]
    assert {one.model for one in said} == {"wrong"}
    assert said[0].prompt_sha256 == render_prompt(tasks[0]).sha256
    assert said[1].more == {"wrong_solution": "slow", "expected_bucket": "cpu_time"}


def test_a_benchmark_without_wrong_solutions() -> None:
    benchmark = Benchmark(name="b", tasks=[task("a", LAZY), task("x")], source="b.jsonl")
    said = r"^b.jsonl: no wrong_solutions in 1 of 2 tasks, the first of which is x$"
    with pytest.raises(InputError, match=said):
        next(Wrong().complete(benchmark, Sampling()))
