"""Work that nobody waits for: guests end, boxes stay good, and others get what they wait for."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from proctor.cancellation import Cancelled, cancellable, is_cancelled, raise_if_cancelled, shielded
from proctor.judge.judge import Judge
from proctor.records.execution import Execution, Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, StdinCases, Task
from proctor.records.verdict import Passed
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job
from tests.requires import requires_language

MINUTE = Limits().with_seconds(60.0)
ENDLESS = Program(source="def f():\n    while True: pass\nif __name__ == '__main__': f()\n")
CASES = StdinCases(inputs=["1\n"] * 3, outputs=["1\n"] * 3)
PLAIN = Task(task_id="t", entry_point="f", tests=Assertions(targets=["f() == 1"]), limits=MINUTE)
EXAMINED = Task(
    task_id="t", entry_point="f", tests=Assertions(targets=["max(f(), 0) == 1"]), limits=MINUTE
)
WHOLE = Task(task_id="t", tests=CASES, limits=MINUTE)


def ended(work: Callable[[], Any], seconds: float = 0.5) -> BaseException | None:
    """Do work on a thread, drop it a moment later, and return how it ended."""
    dropped = threading.Event()
    came: list[BaseException | None] = []

    def run() -> None:
        try:
            with cancellable(dropped):
                work()
            came.append(None)
        except BaseException as error:  # noqa: BLE001
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(seconds)
    dropped.set()
    thread.join(30)
    assert not thread.is_alive()
    return came[0]


def test_a_program_is_ended(sandbox: Sandbox) -> None:
    assert isinstance(ended(lambda: sandbox.run(ENDLESS, MINUTE)), Cancelled)
    assert sandbox.run(Program(source="print(1)"), Limits()).stdout == b"1\n"


def test_a_program_among_files_is_ended_and_its_files_are_gone(sandbox: Sandbox) -> None:
    job = Job(program=ENDLESS, limits=MINUTE, files={"secret": b"x"})
    assert isinstance(ended(lambda: sandbox.run_job(job)), Cancelled)
    look = Job(
        program=Program(source="import os; print(sorted(set(os.listdir()) - {'main.py'}))"),
        limits=Limits(),
        files={"a": b""},
    )
    assert sandbox.run_job(look).stdout == b"['a']\n"


@pytest.mark.parametrize("task", [PLAIN, EXAMINED, WHOLE], ids=["plain", "examined", "stdin"])
def test_a_judgement_is_given_up(sandbox: Sandbox, task: Task) -> None:
    judge = Judge(sandbox)
    assert isinstance(ended(lambda: judge.judge(task, ENDLESS)), Cancelled)
    source = "print(input())" if task is WHOLE else "def f(): return 1"
    assert isinstance(judge.judge(task, Program(source=source)).verdict, Passed)


def test_nothing_is_begun_for_nobody(sandbox: Sandbox) -> None:
    gone = threading.Event()
    gone.set()
    with pytest.raises(Cancelled), cancellable(gone):
        sandbox.run(ENDLESS, MINUTE)
    assert not is_cancelled()
    raise_if_cancelled()


def test_what_others_use_is_done_all_the_same() -> None:
    gone = threading.Event()
    with cancellable(gone):
        gone.set()
        assert is_cancelled()
        with shielded():
            assert not is_cancelled()
            raise_if_cancelled()
        with pytest.raises(Cancelled):
            raise_if_cancelled()


def test_who_waits_for_the_same_compiler_is_not_dropped_with_who_started_it(
    kernel: Sandbox,
) -> None:
    """One thread compiles and goes; the other, which waited for it, compiles then."""
    requires_language(kernel, "cpp")
    numbers = ",".join(map(str, range(150_000)))
    source = f'#include <cstdio>\nint a[] = {{{numbers}}};\nint main() {{ printf("%d", a[7]); }}\n'
    job = Job(program=Program(source=source, language="cpp"), limits=Limits())
    results: list[Execution] = []

    def second() -> None:
        results.append(kernel.run_job(job))

    other = threading.Thread(target=second)

    def work() -> None:
        timer = threading.Timer(0.1, other.start)
        timer.start()
        kernel.run_job(job)

    ended(work, 0.3)
    other.join(60)
    assert results[0].ending == Exited(0)
    assert results[0].stdout == b"7"
