"""Trouble on our side is never a wrong answer, and bringing it about is no way out."""

import contextlib
import os
import signal

import pytest

from proctor.errors import InputError, SandboxError
from proctor.judge.judge import Judge
from proctor.records import task as tasks
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, StdinCases, Task
from proctor.records.verdict import Bucket, Passed, Unscored
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.tiers.portable import Portable

TASK = Task(task_id="t", entry_point="f", tests=Assertions(targets=["f(1) == 2"]))
GOOD = Program(source="def f(x):\n    return x + 1\n")


class Failing(Portable):
    """A sandbox that breaks so many times, or whenever it sees a certain text."""

    def __init__(self, times: int = 10**9, text: str = "") -> None:
        super().__init__()
        self.left = times
        self.text = text

    def exchange(self, requests, limits, role="candidate"):
        if self.left > 0 and self.text.encode() in requests:
            self.left -= 1
            raise SandboxError("it broke")
        return super().exchange(requests, limits, role)


def test_a_failure_of_ours_is_tried_again_and_forgotten():
    judgement = Judge(Failing(times=1)).judge(TASK, GOOD)
    assert isinstance(judgement.verdict, Passed)
    assert judgement.attempts == 2


def test_a_sandbox_that_does_not_work_leaves_samples_unscored():
    judgement = Judge(Failing()).judge(TASK, GOOD)
    assert judgement.verdict == Unscored(bucket=Bucket.HARNESS, reason="it broke")


def test_a_program_that_brings_down_two_sandboxes_has_crashed():
    judgement = Judge(Failing(text="return x + 1")).judge(TASK, GOOD)
    assert judgement.verdict.bucket is Bucket.CRASH
    assert "brought the sandbox down" in judgement.verdict.detail
    assert judgement.attempts == 2


class Storm(Failing):
    """A sandbox in which all boxes go down whenever it sees a certain text."""

    def __init__(self, text: str) -> None:
        super().__init__(text=text)
        self.boxes: list[Box] = []

    def _box(self) -> Box:
        self.boxes.append(super()._box())
        return self.boxes[-1]

    def exchange(self, requests, limits, role="candidate"):
        try:
            return super().exchange(requests, limits, role)
        except SandboxError:
            for box in self.boxes:
                with contextlib.suppress(ProcessLookupError):  # gone long ago, and reaped
                    os.kill(box.keeper, signal.SIGKILL)
            raise


def test_where_other_boxes_go_down_as_well_no_program_is_to_blame():
    judgement = Judge(Storm(text="return x + 1")).judge(TASK, GOOD)
    assert judgement.verdict == Unscored(bucket=Bucket.HARNESS, reason="it broke")
    assert judgement.attempts == 2


def test_an_interpreter_that_does_not_exist_is_nobodys_verdict():
    stdin = Task(task_id="t", tests=StdinCases(inputs=["1"], outputs=["1"]))
    for task in (TASK, stdin):
        with pytest.raises(InputError, match="/no/such/python is not a Python"):
            Judge(Portable("/no/such/python")).judge(task, GOOD)


def test_kinds_that_cannot_be_judged_yet_are_nobodys_failure(sandbox):
    task = Task(task_id="t", tests=tasks.TestProgram(code="int main() {}"))
    verdict = Judge(sandbox).judge(task, GOOD).verdict
    assert verdict.bucket is Bucket.BENCHMARK
    assert "program" in verdict.detail


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


class Defective(Portable):
    """A sandbox with a defect that shows whenever it sees a certain text."""

    def exchange(self, requests, limits, role="candidate"):
        if b"return x + 1" in requests:
            raise AssertionError("this cannot happen")
        return super().exchange(requests, limits, role)


def test_a_defect_of_ours_leaves_one_sample_unscored_and_names_the_place():
    verdict = Judge(Defective()).judge(TASK, GOOD).verdict
    assert isinstance(verdict, Unscored)
    assert verdict.bucket is Bucket.HARNESS
    assert "internal error (test_judge.py, line " in verdict.reason
    assert "AssertionError: this cannot happen" in verdict.reason
