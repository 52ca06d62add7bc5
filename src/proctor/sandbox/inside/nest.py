"""Where guests live, and one guest under the keeper's care."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from .light import TYPE_CHECKING, signal

if TYPE_CHECKING:
    from typing import Any

Step = tuple[Callable[..., object], tuple[object, ...]]
"""A call with all its arguments, made ready before a fork; what goes wrong is raised.

What a child touches is copied for it, page by page, so it should touch little.
"""


class Nest(ABC):
    """What a tier is made of, inside: how guests are put into their walls and swept out."""

    scratch: str

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
    def sweep(self, wait: Callable[[], bool]) -> None:
        """Kill what the guest left; `wait` waits for one to die and says if there was one."""

    @abstractmethod
    def wipe(self) -> None:
        """Empty the scratch folder."""

    @abstractmethod
    def remove(self) -> None:
        """Leave nothing behind."""


class SerialNest(Nest):
    """A nest whose walls may be put up once for many runs of one program."""

    @abstractmethod
    def fork_first(self) -> int:
        """Fork the first process of a pid namespace, of which it can kill all others."""

    @abstractmethod
    def stand_apart(self) -> None:
        """Have that process do nothing but what it is asked by its keeper."""

    @abstractmethod
    def is_left(self) -> bool:
        """Say whether a guest has left a process to that one."""

    @abstractmethod
    def tidy(self, ours: int) -> bool:
        """Free what no process holds any more; say whether no sockets are left but ours."""

    @abstractmethod
    def inherited(self, first: int) -> Any:
        """Return what a guest could have changed about that process."""

    @abstractmethod
    def fork_again(self) -> int:
        """Fork a guest from that process."""


class Ward:
    """One guest from its fork to the end of all it started."""

    def __init__(self, nest: Nest, pid: int) -> None:
        """Take the guest that was forked; in the guest itself, whose pid is 0, nothing is done."""
        self._nest = nest
        self.cpu_seconds = 0.0
        self.memory_bytes = 0
        self.pid = pid
        if pid != 0:
            self.death = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else _death_pipe()

    def reap(self, *, wait: bool = False) -> int | None:
        """Collect what has died; when the guest has, sweep, and return its exit code."""
        status = None
        while (died := self._wait(0 if wait else os.WNOHANG)) is not None:
            if died[0] == self.pid:
                status = died[1]
                break
        if status is None:
            return None
        os.close(self.death)
        self._nest.sweep(lambda: self._wait(0) is not None)
        return os.waitstatus_to_exitcode(status)

    death: int
    """Becomes readable when the guest has died."""

    def _wait(self, options: int) -> tuple[int, int] | None:
        try:
            pid, status, usage = os.wait4(-1, options)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        scale = 1 if sys.platform == "darwin" else 1024
        self.memory_bytes = max(self.memory_bytes, usage.ru_maxrss * scale)
        return pid, status


def _death_pipe() -> int:
    """Stand in for a pidfd where there is none: a pipe that every death of a child writes to."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading
