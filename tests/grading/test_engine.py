"""The local engine: threads of this process, a sandbox, and whatever rules a question brings."""

import os
import threading

import pytest

from proctor.grading.engine import (
    MAX_RULES,
    Engine,
    JudgePool,
    JudgeRequest,
    LocalEngine,
    engine_for,
    grader_threads,
)
from proctor.judge.judgement import Rules
from proctor.records.program import Program
from proctor.records.task import Assertions, Task
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox

DOUBLE = Task(
    task_id="double",
    entry_point="double",
    tests=Assertions(targets=["double(1) == 2", "double(2) == 5", "double(3) == 7"]),
    canonical_solution="def double(x):\n    return 2 * x\n",
)
RIGHT = Program(source="def double(x):\n    return 2 * x\n")


def asked(**how: object) -> JudgeRequest:
    return JudgeRequest(task=DOUBLE, program=RIGHT, **how)  # type: ignore[arg-type]


def test_a_question_says_how_it_is_judged(kernel: Sandbox) -> None:
    judges = JudgePool(kernel)
    whole = judges.judge(asked())
    assert [test.passed for test in whole.verdict.tests] == [True, False, False]
    early = judges.judge(asked(rules=Rules(early_stop=True)))
    assert sum(test.passed for test in early.verdict.tests) == 1
    doubted = judges.judge(asked(confirm_failures=True))
    assert doubted.verdict.bucket is Bucket.BENCHMARK, "the reference fails, too"
    assert whole.toolchain == kernel.enforcement().toolchains["python"]
    assert whole.host


def test_only_some_ways_to_judge_are_kept(kernel: Sandbox) -> None:
    judges = JudgePool(kernel)
    for most in range(1, MAX_RULES + 5):
        judges.judge(asked(rules=Rules(max_tests=most)))
    assert len(judges._ready) == MAX_RULES


def test_begin_rest_and_begin_again(kernel: Sandbox) -> None:
    before = set(threading.enumerate())  # other tests may have graders of their own
    engine = LocalEngine(kernel, 2)
    assert engine.max_in_flight == 4
    for _ in range(2):
        futures = [engine.submit(asked()) for _ in range(6)]
        assert {one.result().verdict.bucket for one in futures} == {Bucket.WRONG_ANSWER}
        engine.shutdown(wait=True)
    names = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in names if name.startswith("grader")]


def test_a_sandbox_stands_for_the_local_engine(kernel: Sandbox) -> None:
    engine = engine_for(kernel, 3)
    assert isinstance(engine, LocalEngine)
    assert engine_for(engine, 5) is engine
    assert not isinstance(kernel, Engine)
    assert engine.require_language("python") == kernel.require_language("python")
    assert engine.enforcement() == kernel.enforcement()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound here")
def test_threads_that_fill_the_machine_keep_to_one_processor_each() -> None:
    allowed = os.sched_getaffinity(0)
    together = threading.Barrier(len(allowed))

    def where() -> set[int]:
        together.wait(20)
        return os.sched_getaffinity(0)

    with grader_threads(len(allowed)) as pool:
        found = [one.result() for one in [pool.submit(where) for _ in allowed]]
    assert set().union(*found) == allowed
    assert {len(one) for one in found} == {1}
    with grader_threads(len(allowed) + 1) as pool:
        assert pool.submit(os.sched_getaffinity, 0).result() == allowed
