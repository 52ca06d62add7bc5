"""Whose own reference fails cannot say that anybody else's answer is wrong."""

import threading
from typing import Any

import msgspec
import pytest

from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement
from proctor.judge.reference_check import ReferenceCheck
from proctor.records.program import Program
from proctor.records.task import Assertions, Task
from proctor.records.task import TestProgram as InOneFile
from proctor.records.verdict import Bucket, Failed, Passed, Unscored
from proctor.sandbox import Sandbox

TASK = Task(
    task_id="t",
    entry_point="f",
    tests=Assertions(targets=["f(1) == 2", "f(2) == 3"]),
    canonical_solution="def f(x): return x + 1",
)
WRONG = Judgement(verdict=Failed(bucket=Bucket.WRONG_ANSWER, detail="f(1) == 2"))


def with_reference(code: str | None) -> Task:
    return msgspec.structs.replace(TASK, canonical_solution=code)


class Counting(Judge):
    """A judge that counts what it is asked."""

    judged = 0

    def judge(self, task: Task, program: Program) -> Judgement:
        self.judged += 1
        return super().judge(task, program)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def f(x): return x", "wrong_answer"),
        ("def f(x): raise ValueError('no')", "test_exception: ValueError: no (line 1)"),
        ("import nothing_of_this_name", "load_exception: "),
    ],
)
def test_a_reference_that_fails(sandbox: Sandbox, code: str, why: str) -> None:
    found = ReferenceCheck(Judge(sandbox)).confirm_failure(with_reference(code), WRONG)
    assert isinstance(found.verdict, Unscored)
    assert found.verdict.bucket is Bucket.BENCHMARK
    said = f"canonical_solution fails the task's own tests ({why}"
    assert found.verdict.reason.startswith(said)


@pytest.mark.parametrize(
    "code",
    [None, "def f(x): return x + 1", "while True: pass"],
    ids=["none", "right", "slow"],
)
def test_a_reference_that_says_nothing_against_its_task(sandbox: Sandbox, code: str | None) -> None:
    """One that runs out of time tells against a limit, which was the user's to choose."""
    task = with_reference(code)
    task = msgspec.structs.replace(task, limits=task.limits.with_seconds(0.3))
    assert ReferenceCheck(Judge(sandbox)).confirm_failure(task, WRONG) is WRONG


@pytest.mark.parametrize(
    "verdict",
    [
        Passed(),
        Unscored(reason="ours"),
        *(Failed(bucket=one) for one in (Bucket.SYNTAX, Bucket.NO_CODE, Bucket.TAMPERING)),
    ],
    ids=lambda verdict: str(verdict.bucket),
)
def test_what_needs_no_reference(sandbox: Sandbox, verdict: Any) -> None:
    judge = Counting(sandbox)
    judgement = Judgement(verdict=verdict)
    assert (
        ReferenceCheck(judge).confirm_failure(with_reference("def f(x): return x"), judgement)
        is judgement
    )
    assert judge.judged == 0


def test_a_reference_is_tried_once(sandbox: Sandbox) -> None:
    judge = Counting(sandbox)
    references = ReferenceCheck(judge)
    bad = with_reference("def f(x): return x")
    found: list[Judgement] = []
    threads = [
        threading.Thread(target=lambda: found.append(references.confirm_failure(bad, WRONG)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.verdict.bucket for one in found] == [Bucket.BENCHMARK] * 4
    assert judge.judged == 1


@pytest.mark.parametrize(
    ("body", "bucket", "tried"),
    [("return x + 1; }", Bucket.WRONG_ANSWER, 0), ("return x; }", Bucket.BENCHMARK, 1)],
    ids=["right", "wrong"],
)
def test_a_reference_that_has_passed_meanwhile_is_not_tried_again(
    cpp: Sandbox, body: str, bucket: Bucket, tried: int
) -> None:
    """Who judges C++ proves his way of doing it with the reference, if anything fails."""
    judge = Counting(cpp)
    task = Task(
        task_id="t",
        language="cpp",
        prompt="int f(int x) { ",
        entry_point="f",
        tests=InOneFile(code="#include <assert.h>\nint main() { assert(f(1) == 2); }\n"),
        canonical_solution=body,
    )
    wrong = judge.judge(task, Program(source="int f(int x) { return 7; }", language="cpp"))
    assert wrong.verdict.bucket is Bucket.WRONG_ANSWER
    assert ReferenceCheck(judge).confirm_failure(task, wrong).verdict.bucket is bucket
    assert judge.judged == 1 + tried
