"""What a guest runs in, and the process of one guest as the keeper sees it."""

import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

Step = tuple[Callable[..., object], tuple[object, ...]]
"""A call with all its arguments, prepared before a fork; it raises an exception if it fails.

The kernel copies each page that a child writes to, so a child should touch as little as possible.
"""


_PIDFD_OPEN = getattr(os, "pidfd_open", None)
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class GuestEnvironment(ABC):
    """How a tier isolates guests and removes what they leave."""

    scratch: str

    @abstractmethod
    def open(self) -> None:
        """Finish the set-up; called once, before the first guest."""

    @abstractmethod
    def fork(self) -> int:
        """Fork a guest; like os.fork this returns twice."""

    @abstractmethod
    def enter_steps(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Return the steps by which the child enters; `free` is its first free descriptor."""

    @abstractmethod
    def seal_steps(self) -> Sequence[Step]:
        """Return the steps by which the child gives up its last rights, for good."""

    @abstractmethod
    def kill(self) -> None:
        """Kill the guest."""

    @abstractmethod
    def sweep(self, wait: Callable[[int], bool]) -> None:
        """Kill what the guest left; `wait` reaps a pid, any if -1, and returns True if it did."""

    @abstractmethod
    def wipe(self) -> None:
        """Empty the scratch folder."""

    @abstractmethod
    def remove(self) -> None:
        """Remove every folder that was created."""


class ReusableEnvironment(GuestEnvironment):
    """An environment that can be entered once for many runs of one program."""

    @abstractmethod
    def fork_first(self) -> int:
        """Fork the init of a new pid namespace, which can kill all other processes in it."""

    @abstractmethod
    def shield_from_runs(self) -> None:
        """Protect this process, the init, from the runs that it forks."""

    @abstractmethod
    def collect(self, pid: int) -> memoryview:
        """Wait for a run, kill what it left; return a report (`repeated_runs.REPORT`)."""

    @abstractmethod
    def free_orphaned_sockets(self, own_sockets: int) -> bool:
        """Free sockets that no process holds; return True if only `own_sockets` are left."""

    @abstractmethod
    def inheritable_state(self, first: int) -> Any:
        """Return what a run could have changed about the init, except resource limits."""

    @abstractmethod
    def fork_again(self) -> int:
        """Fork a run from the init."""


class GuestProcess:
    """One guest, from its fork until every process that it started has ended."""

    def __init__(self, environment: GuestEnvironment, pid: int) -> None:
        """Watch a forked guest; does nothing in the guest itself, where `pid` is 0."""
        self._environment = environment
        self.cpu_seconds = 0.0
        self.memory_bytes = 0
        self.pid = pid
        if pid != 0:
            self.exit_fd = _PIDFD_OPEN(pid) if _PIDFD_OPEN is not None else _exit_pipe()

    def reap(self, *, wait: bool = False) -> int | None:
        """If the guest has died, kill what it left and return its exit code; else None."""
        if not self._wait(self.pid, 0 if wait else os.WNOHANG):
            return None
        status = self._status
        os.close(self.exit_fd)
        self._environment.sweep(self._wait)
        return os.waitstatus_to_exitcode(status)

    exit_fd: int
    """A descriptor that becomes readable when the guest has died."""

    def _wait(self, which: int, options: int = 0) -> bool:
        """Reap a child, or any if -1, and add up its usage; return True if there was one."""
        try:
            pid, self._status, usage = os.wait4(which, options)
        except ChildProcessError:
            return False
        if pid == 0:
            return False
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        self.memory_bytes = max(self.memory_bytes, usage.ru_maxrss * RSS_UNIT)
        return True


def _exit_pipe() -> int:
    """Return a pipe to which SIGCHLD writes, for systems without pidfd."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading
