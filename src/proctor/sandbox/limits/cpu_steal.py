"""What is taken from everybody on the machine: throttled containers, stolen processors.

A container may have used up its share of the processors; a hypervisor may run somebody else. In
both cases nobody here could have answered, and no thread of ours waits in line for it.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from proctor.sandbox.limits.cgroup import hierarchy

TICK = 0.1
"""How often all of this is looked at."""
HERTZ = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PROCESSOR = re.compile(rb"cpu\d")
"""How a processor's line begins; the line of interrupts is long and not worth its splitting."""
STEAL = 8
"""Which word of a processor's line in /proc/stat tells what was stolen from it."""


class StolenTimeMeter:
    """How much of something that only ever grows came while it was looked for."""

    def __init__(self, total: Callable[[], float]) -> None:
        self._total = total
        self._kept = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Count from now on."""
        self._since = self._total()

    def stop(self) -> None:
        """Count no more."""
        self._kept, self._since = self.value, None

    def lap(self) -> None:
        """Forget what was counted."""
        self._kept = 0.0
        if self._since is not None:
            self._since = self._total()

    @property
    def value(self) -> float:
        """What came."""
        return self._kept + (0.0 if self._since is None else self._total() - self._since)


class Sampled:
    """Seconds that add up; looked up when somebody asks, but not all the time."""

    def __init__(self, more: Callable[[], float]) -> None:
        """`more` returns how many there were since it was last asked."""
        self._more = more
        self._looked = time.monotonic()
        self._seconds = 0.0
        self._lock = threading.Lock()

    def seconds(self) -> float:
        """Return how many there were until a moment ago."""
        now = time.monotonic()
        if now - self._looked >= TICK and self._lock.acquire(blocking=False):
            try:
                self._looked = now
                self._seconds += self._more()
            finally:
                self._lock.release()
        return self._seconds


class Throttled(NamedTuple):
    """What the kernel says of a cgroup whose processor time is limited."""

    periods: int
    """In how many its processes were stopped because they had used up their share."""
    seconds: float
    """For how long, summed over all processors on which some were stopped."""


class CgroupThrottling(Sampled):
    """How long cgroups were throttled, of the time that passes for everybody."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._seen = {folder: seen for folder in folders if (seen := _throttled(folder))}
        super().__init__(lambda: max(map(self._throttled_since, self._seen), default=0.0))

    def _throttled_since(self, folder: Path) -> float:
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
def steal_on_host() -> CgroupThrottling:
    """Return the throttle of all cgroups that we are in, as far as we see them."""
    found = hierarchy("cpu")
    return CgroupThrottling([] if found is None else found.visible)


class CpuSteal(Sampled):
    """How long a processor was taken away by a hypervisor: the one that was missed most."""

    def __init__(self, told: Path = Path("/proc/stat")) -> None:
        self._told = told
        self._seen = self._stolen()
        super().__init__(self._stolen_since)

    def _stolen_since(self) -> float:
        before, self._seen = self._seen, self._stolen()
        gone = (now - before.get(name, now) for name, now in self._seen.items())
        return max(gone, default=0.0)

    def _stolen(self) -> dict[bytes, float]:
        """Return what was stolen from each processor, nothing where that is not told."""
        try:
            lines = self._told.read_bytes().splitlines()
        except OSError:
            return {}
        told = (line.split() for line in lines if PROCESSOR.match(line))
        return {words[0]: int(words[STEAL]) / HERTZ for words in told if len(words) > STEAL}


@cache
def throttling_here() -> CpuSteal:
    """Return what is stolen from the processors that we see."""
    return CpuSteal()


def _throttled(folder: Path) -> Throttled | None:
    """Return what a cgroup of either version says, None if it says nothing."""
    try:
        words = (folder / "cpu.stat").read_bytes().split()
        told = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        if b"throttled_time" in told:
            return Throttled(told[b"nr_throttled"], told[b"throttled_time"] / 1e9)
        return Throttled(told[b"nr_throttled"], told[b"throttled_usec"] / 1e6)
    except (OSError, KeyError, ValueError):
        return None


def _quota(folder: Path) -> tuple[float, float]:
    """Return how many seconds a cgroup may run in a period of how many seconds."""
    try:
        quota, period = (folder / "cpu.max").read_bytes().split()
    except OSError:
        quota, period = (
            (folder / f"cpu.cfs_{name}_us").read_bytes() for name in ("quota", "period")
        )
    return (int(quota) / 1e6 if quota.strip().isdigit() else 0.0), int(period) / 1e6
