"""The clock that load cannot fool.

It runs only while a guest owes an answer, and what it counts is the time that passed less the
time in which a thread of the guest stood ready but got no processor (its run delay, which Linux
keeps in schedstat; of all threads the one that waited most, from look to look, because a main
thread may wait for others), or less the time in which the container around us was throttled, if
that is more; and less what a hypervisor took from the processor that was missed most. When many
requests are answered, a little of the time of each is taken for ours, who may be late to hear it;
whoever hides in that is stopped by the other limits. So a sleeper and a busy loop both end at the
limit, and a guest on a starved machine does not. Processor time of all threads and descendants has
a limit of its own. Where the kernel does not tell (macOS), only the wall clock is left; receipts
name the clock.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from proctor.records.limits import Limits
from proctor.sandbox.limits.cpu_steal import HERTZ, StolenTimeMeter, steal_on_host, throttling_here

TICK = 0.1
"""How often processor time is looked at while an answer is outstanding."""
BACKSTOP_FACTOR, BACKSTOP_SECONDS = 10, 30.0
FRESH_SECONDS = 0.02
"""A look that is no older than this is not taken anew for the next case: cases may take less than
a look does. So much processor time of the cases before may count for it."""
HEARING_SECONDS = 0.02
"""So much of the time until an answer is heard may be our own: many small ones add up to a lot."""

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessLoad(NamedTuple):
    """What the kernel says of all guests below a keeper."""

    delays: Mapping[int, float]
    """For each of their threads, how many seconds it waited for a processor."""
    cpu_seconds: float
    processes: int
    memory_bytes: int
    scratch_bytes: int = 0
    """What their files take, where nothing but a look at them limits that."""


def load_of_descendants(keeper: int) -> ProcessLoad | None:
    """Return what all processes below one use, None where that is not told."""
    try:
        _read(f"/proc/{keeper}/schedstat")
        pending = child_pids(keeper)
    except OSError:
        return None
    cpu, processes, memory = 0.0, 0, 0
    delays: dict[int, float] = {}
    while pending:
        pid = pending.pop()
        try:
            one = _load_of(pid)
            pending += child_pids(pid)
        except OSError:
            continue  # it vanished meanwhile, and its parent has its time
        delays |= one.delays
        cpu += one.cpu_seconds
        memory += one.memory_bytes
        processes += 1
    return ProcessLoad(delays, cpu, processes, memory)


def load_of_namespace(keeper: int) -> ProcessLoad | None:
    """Return what guests use that fork from a process behind walls that stay.

    That one counts for memory, as an init does, and for nothing else.
    """
    try:
        pid = child_pids(keeper)[0]
    except (OSError, IndexError):
        return None  # it is gone, as its keeper will say
    first, load = load_of_process(pid), load_of_descendants(pid)
    if first is None or load is None:
        return load
    return load._replace(memory_bytes=load.memory_bytes + first.memory_bytes)


def load_of_process(pid: int) -> ProcessLoad | None:
    """Return what one process uses, None where that is not told."""
    try:
        return _load_of(pid)
    except OSError:
        return None


def _load_of(pid: int) -> ProcessLoad:
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    cpu = sum(map(int, fields[11:15])) / HERTZ
    return ProcessLoad(_delays(pid), cpu, 1, int(fields[21]) * PAGE)


def _delays(pid: int) -> dict[int, float]:
    """Return how long each thread of a process waited for a processor."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  for speed
        try:
            found[int(task)] = int(_read(f"/proc/{pid}/task/{task}/schedstat").split()[1]) / 1e9
        except OSError:
            continue  # the thread is no more
    return found


def child_pids(pid: int) -> list[int]:
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

    def __init__(
        self,
        limits: Limits,
        look: Callable[[], ProcessLoad | None],
        throttled: Callable[[], float] | None = None,
        stolen: Callable[[], float] | None = None,
    ) -> None:
        """`look` says what guests use; `throttled` and `stolen` what we all lost, up to now."""
        self._limits = limits
        self._look = look
        self._throttled = StolenTimeMeter(throttled or steal_on_host().seconds)
        self._stolen = StolenTimeMeter(stolen or throttling_here().seconds)
        self._counted = 0.0
        self._since: float | None = None
        self._lap = 0.0
        self._delay = 0.0
        self._heard_late = 0.0
        self._delays: Mapping[int, float] = {}
        self._cpu_at_start = 0.0
        self._looked: float | None = None
        self._checked: float | None = None
        self.exact = False
        """Whether load was really subtracted."""
        self.cpu_seconds = 0.0
        """Processor time that was seen to be used, when somebody last looked."""
        self.memory_bytes = 0
        """Memory that was."""

    def start(self) -> None:
        """A request went out."""
        if self._since is None:
            self._since = time.monotonic()
            self._throttled.start()
            self._stolen.start()

    def stop(self) -> None:
        """The answer came."""
        if self._since is not None:
            taken = time.monotonic() - self._since
            self._counted += taken
            self._heard_late += min(taken, HEARING_SECONDS)
            self._throttled.stop()
            self._stolen.stop()
            self._since = None

    def lap(self, limits: Limits | None = None) -> None:
        """Begin anew for the next case: the limits, or other ones, count from here."""
        self._limits = limits or self._limits
        self._lap = self.passed
        self._delay = self._heard_late = 0.0
        self._throttled.lap()
        self._stolen.lap()
        now = time.monotonic()
        if self._looked is not None and now - self._looked < FRESH_SECONDS:
            return
        self._looked = now
        load = self._look()
        if load is not None:
            self._delays, self._cpu_at_start = load.delays, load.cpu_seconds

    @property
    def passed(self) -> float:
        """Seconds that a guest owed an answer, load not subtracted."""
        return self._counted + (0 if self._since is None else time.monotonic() - self._since)

    @property
    def _denied(self) -> float:
        """Seconds in which it could not have answered."""
        return max(self._delay, self._throttled.value) + self._stolen.value

    def patience(self) -> float:
        """Return how long to wait before looking again."""
        left = self._limits.wall_seconds - (self.passed - self._lap)
        if left >= TICK:  # however much more it is
            return TICK
        return min(max(left + self._denied + self._heard_late, 0.001), TICK)

    def expired(self) -> Expiry | None:
        """Say which limit has been reached, if any."""
        passed = self.passed - self._lap
        if passed < min(TICK, self._limits.cpu_seconds, self._limits.wall_seconds):
            return None
        now = time.monotonic()
        soon = self._checked is not None and now - self._checked < FRESH_SECONDS
        if soon and passed - self._denied - self._heard_late < self._limits.wall_seconds:
            return None  # one that writes without end wakes us far more often than is worth a look
        self._checked = now
        load = self._look()
        cpu = 0.0
        if load is not None:
            self.exact = True
            self._count_delay(load.delays, passed)
            cpu = self.cpu_seconds = load.cpu_seconds - self._cpu_at_start
            self.memory_bytes = load.memory_bytes
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
        denied = self._denied
        if alive and passed - denied - self._heard_late >= self._limits.wall_seconds:
            return "cpu" if cpu > self._limits.wall_seconds / 2 else "wall"
        if passed >= max(BACKSTOP_FACTOR * self._limits.wall_seconds, BACKSTOP_SECONDS):
            return "starved" if denied > passed / 2 else "wall"
        return None

    def _count_delay(self, delays: Mapping[int, float], passed: float) -> None:
        """Add what the thread waited that waited most since the last look.

        A thread that is gone has taken its delay with it, but it did wait. One that had to wait
        for long says so only afterwards, as may others at once; time passed for all of them.
        """
        waited = (delay - self._delays.get(task, 0.0) for task, delay in delays.items())
        most = max(waited, default=0.0)
        self._delay = min(self._delay + max(most, 0.0), passed)
        self._delays = delays
