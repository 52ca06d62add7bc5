"""The clock that load cannot fool.

It runs only while a guest owes an answer, and what it counts is the time that passed less the
time in which the guest's main thread stood ready but got no processor (its run delay, which
Linux keeps in schedstat). So a sleeper and a busy loop both end at the limit, and a guest on a
starved machine does not. Processor time of all threads and descendants has a limit of its own.
Where the kernel does not tell (macOS), only the wall clock is left; receipts name the clock.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from proctor.sandbox import Limits

TICK = 0.1
"""How often processor time is looked at while an answer is outstanding."""
BACKSTOP_FACTOR, BACKSTOP_SECONDS = 10, 30.0

HERTZ = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Load(NamedTuple):
    """What the kernel says of all guests below a keeper."""

    delay_seconds: float
    """How long their main threads waited for a processor."""
    cpu_seconds: float
    processes: int
    memory_bytes: int
    scratch_bytes: int = 0
    """What their files take, where nothing but a look at them limits that."""


def load_below(keeper: int) -> Load | None:
    """Return what all processes below one use, None where that is not told."""
    try:
        guests = children(keeper)
        delay = sum(int(_read(f"/proc/{pid}/schedstat").split()[1]) for pid in guests) / 1e9
    except (OSError, IndexError, ValueError):
        return None
    cpu, processes, memory, pending = 0.0, 0, 0, guests
    while pending:
        pid = pending.pop()
        try:
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            pending += children(pid)
        except OSError:
            continue  # it vanished meanwhile, and its parent has its time
        cpu += sum(map(int, fields[11:15])) / HERTZ
        memory += int(fields[21]) * PAGE
        processes += 1
    return Load(delay, cpu, processes, memory)


def children(pid: int) -> list[int]:
    """Return the children of a process, whichever of its threads started them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += map(int, (task / "children").read_bytes().split())
        except OSError:
            continue  # the thread is no more: a process that makes and ends many hides nothing
    return found


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


Expiry = Literal["cpu", "wall", "starved", "processes", "memory", "scratch"]


class Stopwatch:
    """Counts the time one guest takes to answer, over one or several requests."""

    def __init__(self, limits: Limits, look: Callable[[], Load | None]) -> None:
        self._limits = limits
        self._look = look
        self._counted = 0.0
        self._since: float | None = None
        self._lap = 0.0
        self._delay = 0.0
        self._delay_at_start = 0.0
        self._cpu_at_start = 0.0
        self.exact = False
        """Whether load was really subtracted."""

    def start(self) -> None:
        """A request went out."""
        if self._since is None:
            self._since = time.monotonic()

    def stop(self) -> None:
        """The answer came."""
        if self._since is not None:
            self._counted += time.monotonic() - self._since
            self._since = None

    def lap(self) -> None:
        """Begin anew for the next case: the limits count from here."""
        self._lap = self.passed
        self._delay = 0.0
        load = self._look()
        if load is not None:
            self._delay_at_start, self._cpu_at_start = load.delay_seconds, load.cpu_seconds

    @property
    def passed(self) -> float:
        """Seconds that a guest owed an answer, load not subtracted."""
        return self._counted + (0 if self._since is None else time.monotonic() - self._since)

    def patience(self) -> float:
        """Return how long to wait before looking again."""
        left = self._limits.wall_seconds + self._delay - (self.passed - self._lap)
        return min(max(left, 0.001), TICK)

    def expired(self) -> Expiry | None:
        """Say which limit has been reached, if any."""
        passed = self.passed - self._lap
        if passed < min(TICK, self._limits.cpu_seconds, self._limits.wall_seconds):
            return None
        load = self._look()
        cpu = 0.0
        if load is not None:
            self.exact = True
            # what a guest waited goes from sight with it, but it did wait
            self._delay = max(self._delay, load.delay_seconds - self._delay_at_start)
            cpu = load.cpu_seconds - self._cpu_at_start
            if load.processes > self._limits.processes:
                return "processes"
            if load.memory_bytes > self._limits.memory_bytes:
                return "memory"
            if load.scratch_bytes > self._limits.scratch_bytes:
                return "scratch"
        if cpu >= self._limits.cpu_seconds:
            return "cpu"
        # a guest that is no more has ended in time: the keeper is about to say so
        alive = load is None or load.processes > 0
        if alive and passed - self._delay >= self._limits.wall_seconds:
            return "cpu" if cpu > self._limits.wall_seconds / 2 else "wall"
        if passed >= max(BACKSTOP_FACTOR * self._limits.wall_seconds, BACKSTOP_SECONDS):
            return "starved" if self._delay > passed / 2 else "wall"
        return None
