"""An actor without Ray: it judges the programs it is given and returns short judgements."""

import os
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from proctor.errors import InputError, SandboxError
from proctor.grading.engine import JudgePool, JudgeRequest
from proctor.grading.prepare import PreparedSample
from proctor.grading.ray.placement import WorkerShare
from proctor.grading.ray.worker import (
    KEPT,
    BatchedRequest,
    BatchItem,
    JudgeWorker,
    WorkerReady,
    WorkerSetup,
    brief,
)
from proctor.grading.receipts import build_receipt
from proctor.judge.conversation import Findings
from proctor.judge.judgement import Judgement, Rules
from proctor.records.completion import Completion
from proctor.records.execution import Execution, Exited, Signalled, Usage
from proctor.records.extraction import Extraction
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, StdinCases, Task
from proctor.records.verdict import Bucket, Passed
from proctor.records.verdict import TestResult as OneTest
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job
from proctor.settings import load_settings

DOUBLE = Task(task_id="double", entry_point="double", tests=Assertions(targets=["double(2) == 4"]))
RIGHT = Program(source="def double(x):\n    return 2 * x\n")
WRONG = Program(source="def double(x):\n    return 3 * x\n")


@pytest.fixture(scope="module")
def actor() -> Iterator[JudgeWorker]:
    one = JudgeWorker(WorkerSetup(sandbox=load_settings().sandbox), 2, fetch=pickle.dumps)
    assert isinstance(one.arrive(), WorkerReady)
    yield one
    one._pool.shutdown()
    one._sandbox.close()


def sent(number: int, program: Program, task: Task = DOUBLE, **how: Any) -> BatchItem:
    return BatchItem(
        number, BatchedRequest(task.sha256, program, Rules(**how), confirm_failures=False)
    )


def collected(actor: JudgeWorker, count: int, most: int = 16) -> dict[int, Any]:
    found: dict[int, Any] = {}
    while len(found) < count:
        part = pickle.loads(actor.collect(most))
        assert 1 <= len(part) <= most
        assert not found.keys() & dict(part).keys()
        found.update(part)
    return found


def give(actor: JudgeWorker, tasks: dict[str, Any], items: list[BatchItem], **large: Any) -> None:
    actor.give(pickle.dumps((tasks, items)), large)


def encoded_tasks(*tasks: Task) -> dict[str, Any]:
    return {task.sha256: pickle.dumps(task) for task in tasks}


def test_what_is_given_is_judged(actor: JudgeWorker) -> None:
    items = [sent(number, RIGHT if number % 2 else WRONG) for number in range(20)]
    give(actor, encoded_tasks(DOUBLE), items)
    found = collected(actor, 20, most=7)
    for number in range(20):
        bucket = Bucket.PASSED if number % 2 else Bucket.WRONG_ANSWER
        assert found[number].verdict.bucket is bucket
        assert found[number].toolchain


def test_a_slow_program_holds_up_nobody(actor: JudgeWorker) -> None:
    slow = Program(source="import time\ntime.sleep(1.5)\ndef double(x):\n    return 2 * x\n")
    give(actor, encoded_tasks(DOUBLE), [sent(0, slow), *(sent(n, RIGHT) for n in range(1, 9))])
    first = dict(pickle.loads(actor.collect(8)))
    assert 0 not in first
    found = {**first, **collected(actor, 9 - len(first))}
    assert {one.verdict.bucket for one in found.values()} == {Bucket.PASSED}


def test_rules_and_jobs(actor: JudgeWorker) -> None:
    twice = Task(
        task_id="t",
        entry_point="double",
        tests=Assertions(targets=["double(1) == 5", "double(2) == 5"]),
    )
    job = Job(program=Program(source="print(input() * 2)\n"), limits=Limits(), stdin=b"ab\n")
    give(
        actor,
        encoded_tasks(twice),
        [sent(1, RIGHT, twice), sent(2, RIGHT, twice, early_stop=True), BatchItem(3, job)],
    )
    found = collected(actor, 3)
    assert len(found[1].verdict.tests) == 2
    assert len([one for one in found[2].verdict.tests if one.detail]) <= 1
    assert (found[3].ending, found[3].stdout) == (Exited(0), b"abab\n")


def test_a_defect_comes_back_as_what_it_is(actor: JudgeWorker) -> None:
    unknown = msgspec.structs.replace(
        DOUBLE, tests=StdinCases(inputs=["1"], outputs=["1"], compare="no such rule")
    )
    give(actor, encoded_tasks(unknown), [sent(1, RIGHT, unknown)])
    error = collected(actor, 1)[1]
    assert isinstance(error, InputError)
    assert "no such rule" in str(error)


def test_more_tasks_than_are_kept(actor: JudgeWorker) -> None:
    tasks = [msgspec.structs.replace(DOUBLE, task_id=f"t{number}") for number in range(KEPT + 10)]
    give(actor, encoded_tasks(*tasks), [sent(n, RIGHT, task) for n, task in enumerate(tasks)])
    found = collected(actor, len(tasks))
    assert {one.verdict.bucket for one in found.values()} == {Bucket.PASSED}


def test_large_tasks_are_fetched(actor: JudgeWorker) -> None:
    task = msgspec.structs.replace(DOUBLE, task_id="large")
    give(actor, {}, [sent(1, RIGHT, task)], **{task.sha256: task})  # `fetch` makes bytes of it
    assert collected(actor, 1)[1].verdict.bucket is Bucket.PASSED


def test_a_message_that_cannot_be_read_is_heard_of() -> None:
    one = JudgeWorker(WorkerSetup(sandbox=load_settings().sandbox), 1, fetch=pickle.dumps)
    one.give(b"nonsense", {})
    with pytest.raises(pickle.UnpicklingError):
        one.collect(1)


@pytest.mark.parametrize(
    ("setup", "kind", "said"),
    [
        (WorkerSetup(sandbox="portable", require="kernel"), SandboxError, "less than that"),
        (WorkerSetup(sandbox="nope"), InputError, "--sandbox nope"),
        (WorkerSetup(python="/no/such/python"), InputError, "/no/such/python"),
    ],
)
def test_a_station_that_cannot_judge_says_why(
    setup: WorkerSetup, kind: type[Exception], said: str
) -> None:
    error = JudgeWorker(setup, 1, fetch=pickle.dumps).arrive()
    assert isinstance(error, kind)
    assert said in str(error)


def test_it_keeps_to_its_part_of_the_machine() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    one = JudgeWorker(WorkerSetup(), 1, fetch=pickle.dumps)
    try:
        one._keep_to(WorkerShare(len(allowed) - 1, len(allowed)))
        assert os.sched_getaffinity(0) == {allowed[-1]}
    finally:
        os.sched_setaffinity(0, allowed)
    one._keep_to(WorkerShare(0, len(allowed) + 1))
    assert sorted(os.sched_getaffinity(0)) == allowed, "the machine is not what Ray takes it for"


def executed(**what: Any) -> Execution:
    return Execution(
        ending=Signalled(9), usage=Usage(cpu_seconds=1.0, wall_seconds=2.0, memory_bytes=3), **what
    )


@pytest.mark.parametrize("failed", [None, 0, 1])
@pytest.mark.parametrize("size", [0, 8192, 8193, 300_000])
def test_a_brief_judgement_makes_the_same_receipt(
    kernel: Sandbox, failed: int | None, size: int
) -> None:
    tests = [
        OneTest(index=index, passed=index != failed, bucket=Bucket.PASSED) for index in range(2)
    ]
    executions = [
        executed(stdout=b"a" * size),
        executed(stderr=b"b" * size, files={"f": b"x" * 99}),
    ]
    whole = Judgement(
        verdict=Passed(tests=tests),
        findings=Findings(tests=tests, executions=executions, notes=frozenset({"asked"})),
    )
    short = brief(whole)
    assert len(pickle.dumps(short)) < 40_000
    completion = Completion(task_id="double", sample=0, id="", completion="")
    receipts = [
        build_receipt(
            PreparedSample(DOUBLE, completion, Extraction(code="", rule="verbatim"), RIGHT),
            one,
            kernel.enforcement(),
        )
        for one in (whole, short)
    ]
    assert receipts[0] == receipts[1]


def test_nothing_was_executed(kernel: Sandbox) -> None:
    judged = JudgePool(kernel).judge(JudgeRequest(task=DOUBLE, program=Program(source="def (")))
    assert isinstance(judged, Judgement)
    assert brief(judged).verdict == judged.verdict
    assert brief(judged).findings.usage == judged.findings.usage
    assert sys.getsizeof(brief(judged).findings.tests) <= sys.getsizeof(())
