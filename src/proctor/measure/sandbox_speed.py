"""How fast this host grades: by tier, number of workers and kind of work, beside a bare subprocess.

The subprocess is what a harness without any wall pays: a fresh interpreter that runs the same
program, nothing isolated, nothing judged.
"""

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.errors import SandboxError
from proctor.grading.engine import grader_threads
from proctor.judge.judge import Judge
from proctor.records.limits import MIB
from proctor.records.program import Program
from proctor.records.task import Assertions, StdinCases, Task
from proctor.records.verdict import Passed
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.clock import child_pids
from proctor.sandbox.tiers.select import ORDER, open_sandbox

T = TypeVar("T")
SUBPROCESS = "subprocess"
WARM_UP = 4
"""Candidates that every worker runs before the clock does."""

FUNCTION = """\
from typing import List

def running_maximum(numbers: List[int]) -> List[int]:
    best, result = None, []
    for number in numbers:
        best = number if best is None else max(best, number)
        result.append(best)
    return result
"""
TARGETS = [
    "running_maximum([]) == []",
    "running_maximum([1, 2, 3, 4]) == [1, 2, 3, 4]",
    "running_maximum([4, 3, 2, 1]) == [4, 4, 4, 4]",
    "running_maximum([3, 2, 3, 100, 3]) == [3, 3, 3, 100, 100]",
]
COMPARED = Task(
    task_id="bench/compared", entry_point="running_maximum", tests=Assertions(targets=TARGETS)
)
EXAMINED = msgspec.structs.replace(
    COMPARED,
    task_id="bench/examined",
    tests=Assertions(
        targets=["len(running_maximum([1, 2])) == 2", "running_maximum([2, 1])[1] == 2"]
    ),
)
STDIN = Task(task_id="bench/stdin", tests=StdinCases(inputs=["3 1 2\n"], outputs=["6\n"]))
PRINTING = "print(sum(map(int, input().split())))\n"

WORKS = {
    "compared": (COMPARED, Program(source=FUNCTION)),
    "examined": (EXAMINED, Program(source=FUNCTION)),
    "numpy": (COMPARED, Program(source="import numpy as np\n" + FUNCTION)),
    "stdin": (STDIN, Program(source=PRINTING)),
}
"""Kinds of work: calls compared here, tests run by an examiner, a large library, a program."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured in one configuration."""

    tier: str
    work: str
    workers: int
    per_second: float
    p50_ms: float
    p95_ms: float
    memory_mib: float | None
    """Private memory of one worker's idle processes."""
    times_subprocess: float | None = None
    """How many times the rate of bare subprocesses, with as many workers."""


def measure_sandbox(
    tiers: Sequence[str], workers: Sequence[int], seconds: float, python: str
) -> Iterator[Rate]:
    """Measure every configuration, and yield each as soon as it is done."""
    bare = {}
    for count in workers:
        bare[count] = _rate(SUBPROCESS, "compared", count, seconds, lambda: _bare(python))
        yield bare[count]
    for tier in tiers:
        for work in WORKS:
            for count in workers:
                rate = _sandboxed(tier, work, count, seconds, python)
                if rate is not None:
                    ratio = rate.per_second / bare[count].per_second
                    yield msgspec.structs.replace(rate, times_subprocess=round(ratio, 2))


def _sandboxed(tier: str, work: str, workers: int, seconds: float, python: str) -> Rate | None:
    """Measure one kind of work in a sandbox of its own; None if it has not what is needed."""
    sandbox = open_sandbox(tier, python)
    try:
        if work != "numpy" or _has_numpy(sandbox):
            grade = _grading(sandbox, *WORKS[work])
            return _rate(tier, work, workers, seconds, grade, memory=True)
    finally:
        sandbox.close()
    return None


def _has_numpy(sandbox: Sandbox) -> bool:
    return any(package.startswith("numpy") for package in sandbox.enforcement().packages)


def _grading(sandbox: Sandbox, task: Task, program: Program) -> Callable[[], None]:
    judge = Judge(sandbox)

    def grade() -> None:
        verdict = judge.judge(task, program).verdict
        if not isinstance(verdict, Passed):
            raise SandboxError(f"a program that is right did not pass: {verdict}")

    return grade


def _bare(python: str) -> None:
    """Run the same calls in a fresh interpreter."""
    calls = "".join(f"assert {target}\n" for target in TARGETS)
    subprocess.run([python, "-I", "-c", FUNCTION + calls], check=True, capture_output=True)


def _rate(
    tier: str,
    work: str,
    workers: int,
    seconds: float,
    once: Callable[[], None],
    *,
    memory: bool = False,
) -> Rate:
    """Do something again and again on some workers for some time."""
    with grader_threads(workers) as pool:
        _on_all(pool, workers, lambda: list(_timed(once, times=WARM_UP)))
        begin = time.perf_counter()
        times = _on_all(pool, workers, lambda: list(_timed(once, until=begin + seconds)))
        passed = time.perf_counter() - begin
    spans = sorted(span for worker in times for span in worker)
    private = _private_bytes() / MIB / workers if memory else None
    return Rate(
        tier=tier,
        work=work,
        workers=workers,
        per_second=round(len(spans) / passed, 1),
        p50_ms=round(spans[len(spans) // 2] * 1e3, 2),
        p95_ms=round(spans[len(spans) * 95 // 100] * 1e3, 2),
        memory_mib=None if private is None else round(private, 1),
    )


def _on_all(pool: Executor, workers: int, work: Callable[[], list[T]]) -> list[list[T]]:
    """Do something on every worker at the same time."""
    together = threading.Barrier(workers)

    def begin(_: int) -> list[T]:
        together.wait()
        return work()

    return list(pool.map(begin, range(workers)))


def _timed(
    once: Callable[[], None], *, until: float = math.inf, times: float = math.inf
) -> Iterator[float]:
    """Do something until a time has come or often enough, and say how long it took each time."""
    now = time.perf_counter()
    while now < until and times > 0:
        once()
        before, now, times = now, time.perf_counter(), times - 1
        yield now - before


def _private_bytes() -> int:
    """Return the memory that all our child processes share with nobody."""
    page, total, pending = os.sysconf("SC_PAGESIZE"), 0, child_pids(os.getpid())
    while pending:
        pid = pending.pop()
        pending += child_pids(pid)
        _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
        total += (resident - shared) * page
    return total


def working_tiers(python: str = sys.executable) -> list[str]:
    """Return the tiers that work on this host."""
    found: list[str] = []
    for tier in ORDER:
        try:
            open_sandbox(tier, python).close()
        except SandboxError:
            continue
        found.append(tier)
    return found
