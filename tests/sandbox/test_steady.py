"""The kernel tier over a long time: nothing grows, what dies is replaced, load changes nothing."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.grading.engine import grader_threads
from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, StdinCases, Task
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.tiers.pooled import PooledSandbox as Kernel
from proctor.sandbox.tiers.select import open_sandbox

LIMITS = Limits(cpu_seconds=1.0, wall_seconds=1.0)
PLAIN = Task(
    task_id="plain",
    entry_point="f",
    tests=Assertions(targets=["f(1) == 2", "f(5) == 6"]),
    limits=LIMITS,
)
EXAMINED = Task(
    task_id="examined",
    entry_point="f",
    tests=Assertions(targets=["1e-6 > abs(f(1) - 2)"]),
    limits=LIMITS,
)
STDIN = Task(task_id="stdin", tests=StdinCases(inputs=["1\n"], outputs=["2\n"]), limits=LIMITS)
GOOD = Program(source="def f(x):\n    return x + 1\n")
BOXES = 4
"""Two workers, boxes for candidates and boxes for examiners."""
PRINTS = Program(source="print(int(input()) + 1)\n")


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    try:
        opened = open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    assert isinstance(opened, Kernel)
    yield opened
    opened.close()


def anonymous_memory(pid: int | str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) << 10


class State:
    """What must not grow."""

    def __init__(self, boxes: list[Box]) -> None:
        self.boxes = len(boxes)
        self.descriptors = [len(os.listdir(f"/proc/{box.keeper}/fd")) for box in boxes]
        mounts = [Path(f"/proc/{box.keeper}/mountinfo").read_text() for box in boxes]
        self.mounts = [text.count("\n") for text in mounts]
        self.memory = [anonymous_memory(box.keeper) for box in boxes]
        self.own = anonymous_memory("self")


def many(kernel: Kernel, count: int) -> None:
    judge = Judge(kernel)
    jobs = [(PLAIN, GOOD), (PLAIN, GOOD), (EXAMINED, GOOD), (STDIN, PRINTS)]
    with grader_threads(2) as pool:
        for start in range(0, count, 500):  # the pool would keep what it is told to do
            numbers = range(start, min(start + 500, count))
            verdicts = pool.map(
                lambda number: judge.judge(*jobs[number % len(jobs)]).verdict.bucket, numbers
            )
            assert set(verdicts) == {"passed"}


@pytest.mark.parametrize(
    "count", [600, pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_nothing_grows(
    kernel: Kernel, count: int, warm_boxes: Callable[..., list[Box]], remains: Callable[..., object]
) -> None:
    for _ in range(20):  # until both workers needed a box of each kind at once
        many(kernel, 100)
        if len(warm_boxes(kernel)) == BOXES:
            break
    before, left = State(warm_boxes(kernel)), remains(kernel)
    many(kernel, count)
    after = State(warm_boxes(kernel))
    assert remains(kernel) == left
    assert before.boxes <= after.boxes <= BOXES
    assert set(after.descriptors) <= set(before.descriptors)
    assert set(after.mounts) <= set(before.mounts)
    assert max(after.memory) < max(before.memory) + (2 << 20)
    assert after.own < before.own + (16 << 20)


@pytest.mark.parametrize("victim", ["keeper", "builder"])
def test_a_keeper_that_is_killed_is_replaced_and_its_sample_judged_again(
    kernel: Kernel, victim: str
) -> None:
    slow = Program(source="import time\ntime.sleep(0.05)\ndef f(x):\n    return x + 1\n")
    judge = Judge(kernel)
    over = threading.Event()

    def kill_some() -> None:
        chance = random.Random(0)
        while not over.wait(0.15):
            ours = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            if victim == "keeper":
                ours = [
                    grandchild
                    for child in ours
                    for grandchild in Path(f"/proc/{child}/task/{child}/children")
                    .read_text()
                    .split()
                ]
            if ours:
                os.kill(int(chance.choice(ours)), signal.SIGKILL)

    killer = threading.Thread(target=kill_some)
    killer.start()
    judged: list[Judgement] = []
    try:
        with grader_threads(2) as pool:
            for _ in range(10):  # until a box was killed that was at work
                judged += pool.map(lambda _: judge.judge(PLAIN, slow), range(60))
                if any(one.attempts == 2 for one in judged):
                    break
    finally:
        over.set()
        killer.join()
    unscored = [one.verdict for one in judged if one.verdict.bucket == "harness"]
    passed = [one for one in judged if one.verdict.bucket == "passed"]
    assert len(passed) + len(unscored) == len(judged), "a kill of ours is nobody's failure"
    assert len(unscored) <= len(judged) // 20, unscored
    assert any(one.attempts == 2 for one in passed)


def test_a_box_runs_where_its_caller_may_run(kernel: Kernel) -> None:
    allowed = os.sched_getaffinity(0)
    where = Program(source="import os\nprint(sorted(os.sched_getaffinity(0)))\n")
    try:
        for processors in (sorted(allowed), [min(allowed)], [max(allowed)], sorted(allowed)):
            os.sched_setaffinity(0, processors)
            said = kernel.run(where, LIMITS).stdout.decode()
            assert said == f"{processors}\n"
    finally:
        os.sched_setaffinity(0, allowed)


def mixed(count: int) -> list[tuple[Task, Program, str]]:
    """Return samples of all kinds, among them many that take half of the time limit."""
    busy = "import time\ndef spend(s):\n    while time.process_time() < s: pass\n"
    kinds = [
        (PLAIN, "def f(x):\n    return x + 1\n", "passed"),
        (PLAIN, "def f(x):\n    return x\n", "wrong_answer"),
        (EXAMINED, "def f(x):\n    return x + 1\n", "passed"),
        (STDIN, "print(int(input()) + 1)\n", "passed"),
        (PLAIN, busy + "spend(0.5)\ndef f(x):\n    return x + 1\n", "passed"),
        (PLAIN, "def f(x):\n    return 1 / 0\n", "test_exception"),
        (STDIN, busy + "spend(0.5)\nprint(int(input()) + 1)\n", "passed"),
        (EXAMINED, busy + "def f(x):\n    spend(0.5)\n    return x + 1\n", "passed"),
        (PLAIN, "import time\ntime.sleep(0.5)\ndef f(x):\n    return x + 1\n", "passed"),
        (STDIN, "import time\ntime.sleep(0.5)\nprint(int(input()) + 1)\n", "passed"),
        (PLAIN, "def f(x):\n    while True: pass\n", "cpu_time"),
        (STDIN, "import time\ntime.sleep(9)\n", "wall_time"),
    ]
    rare = [*range(6), 0, 1, 2, 3, 5, 0, 1, 2, 3, *range(4, 12)]
    chosen = [kinds[rare[number % len(rare)]] for number in range(count)]
    return [(task, Program(source=source), bucket) for task, source, bucket in chosen]


LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Ends with whoever started it, however that ended."""


@pytest.fixture
def busy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep every core busy, several times over."""
    loops = [
        # a session each: the kernel may give all of one session no more than its share
        subprocess.Popen([sys.executable, "-S", "-c", LOOP], start_new_session=True)
        for _ in range(request.param * (os.cpu_count() or 1))
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.parametrize("busy", [1, pytest.param(8, marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize(
    "count", [23, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
@pytest.mark.usefixtures("busy")
def test_how_busy_the_machine_is_changes_no_verdict(kernel: Kernel, count: int) -> None:
    samples = mixed(count)
    judge = Judge(kernel)
    with grader_threads(2) as pool:
        verdicts = list(pool.map(lambda sample: judge.judge(*sample[:2]).verdict, samples))
    wrong = [
        (number, verdict)
        for number, (verdict, (_, _, bucket)) in enumerate(zip(verdicts, samples, strict=True))
        if verdict.bucket != bucket
    ]
    assert not wrong
