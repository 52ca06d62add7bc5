"""Trouble on our side is never a wrong answer, and bringing it about is no way out."""

import pytest

from proctor.errors import SandboxError
from proctor.judge import PROBE_PROGRAM, Judge
from proctor.program import Program
from proctor.sandbox import Limits
from proctor.sandbox.portable import Portable
from proctor.task import Assertions, StdinCases, Task, UnitTests
from proctor.verdict import Bucket, Failed, Passed, Unscored

TASK = Task(task_id="t", entry_point="f", tests=Assertions(targets=["f(1) == 2"]))
GOOD = Program(source="def f(x):\n    return x + 1\n")


class Failing(Portable):
    """A sandbox that breaks a given number of times, or for one program only."""

    def __init__(self, times: int = 10**9, only: str | None = None) -> None:
        super().__init__()
        self.left = times
        self.only = only
        self.opened = 0

    def open(self, role, limits):
        self.opened += 1
        guest = super().open(role, limits)
        if self.only is not None:
            send = guest.send

            def send_or_break(data):
                if self.only.encode() in data:
                    self._break(guest)
                send(data)

            guest.send = send_or_break
            return guest
        if self.left > 0:
            self._break(guest)
        return guest

    def _break(self, guest):
        self.left -= 1
        guest.finish()
        raise SandboxError("it broke")


def test_a_failure_of_ours_is_tried_again_and_forgotten():
    judgement = Judge(Failing(times=1)).judge(TASK, GOOD)
    assert isinstance(judgement.verdict, Passed | Unscored)
    sandbox = Failing(times=1, only="return x + 1")
    sandbox_judge = Judge(sandbox)
    assert isinstance(sandbox_judge.judge(TASK, PROBE_PROGRAM).verdict, Failed)


def test_a_sandbox_that_does_not_work_leaves_samples_unscored():
    judgement = Judge(Failing()).judge(TASK, GOOD)
    assert judgement.verdict == Unscored(bucket=Bucket.HARNESS, reason="it broke")


def test_a_program_that_brings_down_two_sandboxes_has_crashed():
    judgement = Judge(Failing(only="return x + 1")).judge(TASK, GOOD)
    assert judgement.verdict.bucket is Bucket.CRASH
    assert "brought the sandbox down" in judgement.verdict.detail
    assert judgement.attempts == 2


def test_an_interpreter_that_does_not_exist_is_our_trouble():
    judgement = Judge(Portable("/no/such/python")).judge(TASK, GOOD)
    assert isinstance(judgement.verdict, Unscored)
    stdin = Task(task_id="t", tests=StdinCases(inputs=["1"], outputs=["1"]))
    assert isinstance(Judge(Portable("/no/such/python")).judge(stdin, GOOD).verdict, Unscored)


def test_kinds_that_cannot_be_judged_yet_are_nobodys_failure(sandbox):
    task = Task(task_id="t", tests=UnitTests(code="import unittest"))
    verdict = Judge(sandbox).judge(task, GOOD).verdict
    assert verdict.bucket is Bucket.BENCHMARK
    assert "unittest" in verdict.detail


@pytest.mark.usefixtures("nothing_left")
def test_one_judge_serves_many_threads(sandbox):
    from concurrent.futures import ThreadPoolExecutor

    judge = Judge(sandbox)
    tasks = [
        Task(
            task_id=f"t{n}",
            entry_point="f",
            tests=Assertions(targets=[f"f({n}) == {n + 1}", f"abs(f({n})) == {n + 1}"]),
            limits=Limits().with_seconds(10),
        )
        for n in range(12)
    ]
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda task: judge.judge(task, GOOD).verdict, tasks))
    assert all(isinstance(verdict, Passed) for verdict in verdicts)
