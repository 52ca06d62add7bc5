"""The clock that load cannot fool.

It runs only while a guest owes an answer, and what it counts is the time that passed less the
time in which a thread of the guest stood ready but got no processor (its run delay, which Linux
keeps in schedstat; of all threads the one that waited most, from look to look, because a main
thread may wait for others), or less the time in which the container around us was throttled, if
that is more. When many requests are answered, a little of the time of each is taken for ours, who
may be late to hear it; whoever hides in that is stopped by the other limits. So a sleeper and a
busy loop both end at the limit, and a guest on a starved machine does not. Processor time of all
threads and descendants has a limit of its own. Where the kernel does not tell (macOS), only the
wall clock is left; receipts name the clock.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from proctor.sandbox import Limits
from proctor.sandbox.cgroup import hierarchy

TICK = 0.1
"""How often processor time is looked at while an answer is outstanding."""
BACKSTOP_FACTOR, BACKSTOP_SECONDS = 10, 30.0
FRESH_SECONDS = 0.02
"""A look that is no older than this is not taken anew for the next case: cases may take less than
a look does. So much processor time of the cases before may count for it."""
HEARING_SECONDS = 0.02
"""So much of the time until an answer is heard may be our own: many small ones add up to a lot."""

HERTZ = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Load(NamedTuple):
    """What the kernel says of all guests below a keeper."""

    delays: Mapping[int, float]
    """For each of their threads, how many seconds it waited for a processor."""
    cpu_seconds: float
    processes: int
    memory_bytes: int
    scratch_bytes: int = 0
    """What their files take, where nothing but a look at them limits that."""


def load_below(keeper: int) -> Load | None:
    """Return what all processes below one use, None where that is not told."""
    try:
        _read(f"/proc/{keeper}/schedstat")
        pending = children(keeper)
    except OSError:
        return None
    cpu, processes, memory = 0.0, 0, 0
    delays: dict[int, float] = {}
    while pending:
        pid = pending.pop()
        try:
            one = _load_of(pid)
            pending += children(pid)
        except OSError:
            continue  # it vanished meanwhile, and its parent has its time
        delays |= one.delays
        cpu += one.cpu_seconds
        memory += one.memory_bytes
        processes += 1
    return Load(delays, cpu, processes, memory)


def load_of(pid: int) -> Load | None:
    """Return what one process uses, None where that is not told."""
    try:
        return _load_of(pid)
    except OSError:
        return None


def _load_of(pid: int) -> Load:
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    cpu = sum(map(int, fields[11:15])) / HERTZ
    return Load(_delays(pid), cpu, 1, int(fields[21]) * PAGE)


def _delays(pid: int) -> dict[int, float]:
    """Return how long each thread of a process waited for a processor."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  for speed
        try:
            found[int(task)] = int(_read(f"/proc/{pid}/task/{task}/schedstat").split()[1]) / 1e9
        except OSError:
            continue  # the thread is no more
    return found


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


class Throttled(NamedTuple):
    """What the kernel says of a cgroup whose processor time is limited."""

    periods: int
    """In how many its processes were stopped because they had used up their share."""
    seconds: float
    """For how long, summed over all processors on which some were stopped."""


class Throttle:
    """How long cgroups were throttled; looked up when somebody asks, but not all the time."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._seen = {folder: seen for folder in folders if (seen := _throttled(folder))}
        self._looked = time.monotonic()
        self._seconds = 0.0
        self._lock = threading.Lock()

    def seconds(self) -> float:
        """Return how long it was until a moment ago, of the time that passes for everybody."""
        now = time.monotonic()
        if self._seen and now - self._looked >= TICK and self._lock.acquire(blocking=False):
            try:
                self._looked = now
                self._seconds += max(map(self._more, self._seen))
            finally:
                self._lock.release()
        return self._seconds

    def _more(self, folder: Path) -> float:
        """Return for how long one was throttled since we last looked.

        It had its whole share in every period in which it was throttled. With what it was kept from
        that is what it wanted, which tells on how many processors it wanted to run.
        """
        before, now = self._seen[folder], _throttled(folder)
        if now is None or now.seconds <= before.seconds:
            return 0.0
        self._seen[folder] = now
        kept = now.seconds - before.seconds
        periods = max(now.periods - before.periods, 1)
        try:
            quota, period = _quota(folder)
        except OSError:
            return 0.0  # it has just been removed
        return kept * periods * period / (kept + periods * quota)


@cache
def around_us() -> Throttle:
    """Return the throttle of all cgroups that we are in, as far as we see them."""
    found = hierarchy("cpu")
    return Throttle([] if found is None else found.visible)


def _throttled(folder: Path) -> Throttled | None:
    """Return what a cgroup of either version says, None if it says nothing."""
    try:
        words = _read(f"{folder}/cpu.stat").split()
        told = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        if b"throttled_time" in told:
            return Throttled(told[b"nr_throttled"], told[b"throttled_time"] / 1e9)
        return Throttled(told[b"nr_throttled"], told[b"throttled_usec"] / 1e6)
    except (OSError, KeyError, ValueError):
        return None


def _quota(folder: Path) -> tuple[float, float]:
    """Return how many seconds a cgroup may run in a period of how many seconds."""
    try:
        quota, period = _read(f"{folder}/cpu.max").split()
    except OSError:
        quota, period = (_read(f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period"))
    return (int(quota) / 1e6 if quota.strip().isdigit() else 0.0), int(period) / 1e6


Expiry = Literal["cpu", "wall", "starved", "processes", "memory", "scratch"]


class Stopwatch:
    """Counts the time one guest takes to answer, over one or several requests."""

    def __init__(
        self,
        limits: Limits,
        look: Callable[[], Load | None],
        throttled: Callable[[], float] | None = None,
    ) -> None:
        """`look` says what guests use; `throttled` how long we all were, up to now."""
        self._limits = limits
        self._look = look
        self._all_throttled = throttled or around_us().seconds
        self._counted = 0.0
        self._since: float | None = None
        self._lap = 0.0
        self._delay = 0.0
        self._heard_late = 0.0
        self._delays: Mapping[int, float] = {}
        self._throttled = 0.0
        self._throttled_at_start = 0.0
        self._cpu_at_start = 0.0
        self._looked: float | None = None
        self.exact = False
        """Whether load was really subtracted."""
        self.cpu_seconds = 0.0
        """Processor time that was seen to be used, when somebody last looked."""

    def start(self) -> None:
        """A request went out."""
        if self._since is None:
            self._since = time.monotonic()
            self._throttled_at_start = self._all_throttled()

    def stop(self) -> None:
        """The answer came."""
        if self._since is not None:
            taken = time.monotonic() - self._since
            self._counted += taken
            self._heard_late += min(taken, HEARING_SECONDS)
            self._throttled += self._all_throttled() - self._throttled_at_start
            self._since = None

    def lap(self, limits: Limits | None = None) -> None:
        """Begin anew for the next case: the limits, or other ones, count from here."""
        self._limits = limits or self._limits
        self._lap = self.passed
        self._delay = self._throttled = self._heard_late = 0.0
        self._throttled_at_start = self._all_throttled()
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
        now = self._all_throttled() if self._since is not None else self._throttled_at_start
        return max(self._delay, self._throttled + now - self._throttled_at_start)

    def patience(self) -> float:
        """Return how long to wait before looking again."""
        allowed = self._limits.wall_seconds + self._denied + self._heard_late
        left = allowed - (self.passed - self._lap)
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
            self._count_delay(load.delays, passed)
            cpu = self.cpu_seconds = load.cpu_seconds - self._cpu_at_start
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
