"""Where guests live, and one guest under the keeper's care."""

import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

Step = tuple[Callable[..., object], tuple[object, ...]]
"""A call with all its arguments, made ready before a fork; what goes wrong is raised.

What a child touches is copied for it, page by page, so it should touch little.
"""


_PIDFD_OPEN = getattr(os, "pidfd_open", None)
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class GuestEnvironment(ABC):
    """What a tier is made of, inside: how guests are put into their walls and swept out."""

    scratch: str

    @abstractmethod
    def open(self) -> None:
        """Do what is to be done last before guests come."""

    @abstractmethod
    def fork(self) -> int:
        """Fork a guest; return twice, as os.fork does."""

    @abstractmethod
    def entering(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Return how the child goes where guests live; `free` is its first free descriptor."""

    @abstractmethod
    def sealing(self) -> Sequence[Step]:
        """Return how the child closes the last walls: no way back from there."""

    @abstractmethod
    def kill(self) -> None:
        """End the guest."""

    @abstractmethod
    def sweep(self, wait: Callable[[int], bool]) -> None:
        """Kill what the guest left; `wait` waits for one, or any if -1, and says if there was."""

    @abstractmethod
    def wipe(self) -> None:
        """Empty the scratch folder."""

    @abstractmethod
    def remove(self) -> None:
        """Leave nothing behind."""


class ReusableEnvironment(GuestEnvironment):
    """A nest whose walls may be put up once for many runs of one program."""

    @abstractmethod
    def fork_first(self) -> int:
        """Fork the first process of a pid namespace, of which it can kill all others."""

    @abstractmethod
    def stand_apart(self) -> None:
        """Have that process do nothing but what it is asked by its keeper."""

    @abstractmethod
    def collect(self, pid: int) -> memoryview:
        """Wait for a guest of that one, end what it left to it, and report (`series.REPORT`)."""

    @abstractmethod
    def tidy(self, ours: int) -> bool:
        """Free what no process holds any more; say whether no sockets are left but ours."""

    @abstractmethod
    def inherited(self, first: int) -> Any:
        """Return what a guest could have changed about that process, but its resource limits."""

    @abstractmethod
    def fork_again(self) -> int:
        """Fork a guest from that process."""


class GuestProcess:
    """One guest from its fork to the end of all it started."""

    def __init__(self, nest: GuestEnvironment, pid: int) -> None:
        """Take the guest that was forked; in the guest itself, whose pid is 0, nothing is done."""
        self._nest = nest
        self.cpu_seconds = 0.0
        self.memory_bytes = 0
        self.pid = pid
        if pid != 0:
            self.death = _PIDFD_OPEN(pid) if _PIDFD_OPEN is not None else _death_pipe()

    def reap(self, *, wait: bool = False) -> int | None:
        """When the guest has died, sweep, and return its exit code."""
        if not self._wait(self.pid, 0 if wait else os.WNOHANG):
            return None
        status = self._status
        os.close(self.death)
        self._nest.sweep(self._wait)
        return os.waitstatus_to_exitcode(status)

    death: int
    """Becomes readable when the guest has died."""

    def _wait(self, which: int, options: int = 0) -> bool:
        """Collect one that has died, or any, and say whether there was one."""
        try:
            pid, self._status, usage = os.wait4(which, options)
        except ChildProcessError:
            return False
        if pid == 0:
            return False
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        self.memory_bytes = max(self.memory_bytes, usage.ru_maxrss * RSS_UNIT)
        return True


def _death_pipe() -> int:
    """Stand in for a pidfd where there is none: a pipe that every death of a child writes to."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading
