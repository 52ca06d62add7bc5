"""A nest with walls: every guest gets pid, mount, ipc and user namespaces of its own.

The keeper is itself in a box: namespaces of its own, a read-only root, no network. For each guest
it makes a pid namespace with an init that only waits, forks into it, and comes back. The child
mounts an empty scratch folder and its own /proc, gives itself a user namespace in which it is
nobody in particular, and closes the door: no capabilities, no new privileges, few system calls.
Killing the init kills all. Where one program runs many times, the init is that child
(`keeper/repeated_runs.py`).
"""

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import syscalls
from .environment import ReusableEnvironment, Step

SCRATCH = "/tmp"
USER = 1000
INODES = 16384
SOCKETS, TOLD = "/proc/net/sockstat", 64
TRIES, PAUSE_SECONDS = 100, 0.0005
"""How often it is looked for sockets that should be gone, and how long is waited in between."""
FORK_AWARE = {"random", "threading"}
"""Modules that want to hear of a fork; those that others have all load one of these."""


class Namespaces(ReusableEnvironment):
    """Guests of the kernel tier."""

    def __init__(self, filter_code: bytes, *, own_filter: bytes, shared_bytes: int = 0) -> None:
        """Take a system-call filter for guests and one for us, with which they are born.

        And the size of a scratch folder if guests share one.
        """
        self.scratch = SCRATCH
        self._filter = syscalls.Filter(filter_code)
        self._pauser = syscalls.Pauser()
        self._collector = syscalls.Collector()
        os.chdir("/proc")  # the box's, where children can write; what they will see is read-only
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        # our children are born where the last guest was, until there is another
        self._anew = syscalls.Ready(
            ("setns", syscalls.LIBC.setns, (own, syscalls.NEWPID)),
            ("unshare", syscalls.LIBC.unshare, (syscalls.NEWPID,)),
        )
        self._init = 0
        self._waits = True  # whether the init only waits
        self._told = _open(SOCKETS)
        self._most = self._sockets()
        self._quiet = self._hear()
        self._shared = shared_bytes
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
        # A handler of ours would let a guest signal the init of its namespace, whose memory is
        # ours. Only the kernel is told; Python finds its own handler in place after the fork.
        on_interrupt = syscalls.LIBC.signal(int(signal.SIGINT), 0)
        if shared_bytes:
            syscalls.perform(_mounting_scratch(shared_bytes))
        self._fork = os.fork if sys.modules.keys() & FORK_AWARE else syscalls.fork
        deaf, self._hearing = (
            ("signal", syscalls.LIBC.signal, (int(signal.SIGINT), what))
            for what in (0, on_interrupt)
        )
        hidden, shown = (
            ("prctl", syscalls.LIBC.prctl, (syscalls.PR_SET_DUMPABLE, seen, 0, 0, 0))
            for seen in (0, 1)
        )
        self._sealing = syscalls.Ready(syscalls.dropping(), shown, self._filter.installing[-1])
        self._apart = syscalls.Ready(deaf, hidden)
        # a group of its own, as if it were alone: nobody means the first process by killing his
        self._among = syscalls.Ready(
            self._hearing, shown, ("setpgid", syscalls.LIBC.setpgid, (0, 0))
        )
        self._own_filter = syscalls.Filter(own_filter)
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)  # without which nobody may have a filter

    def open(self) -> None:
        """Allow this process no system calls from here on but those that guests need of it."""
        self._own_filter.install()

    def fork(self) -> int:
        """Fork a guest into a pid namespace of its own."""
        self._anew.go()
        self._init, self._waits = self._pauser.start(), True
        return self._fork()

    def fork_first(self) -> int:
        """Fork a process that is itself the init of its pid namespace."""
        self._anew.go()
        pid = self._fork()
        if pid != 0:
            self._init, self._waits = pid, False
        return pid

    def stand_apart(self) -> None:
        """Hear no signal of a guest, who cannot look into this process either."""
        self._apart.go()

    def collect(self, pid: int) -> memoryview:
        """Wait for a guest, end what it left running, and say how it ended and what it all took."""
        return self._collector.collect(pid)

    def tidy(self, ours: int = 0) -> bool:
        """Have the kernel free sockets of which each waits in another to be received.

        Nobody holds them any more, but they have names that all in the box can read, keep files
        open that were sent with them, and count for how many descriptors a user may send. The
        kernel looks for such whenever a socket is closed, soon after. Say whether only ours are
        left.
        """
        if self._told is None:
            return False
        most = self._most + ours
        for _ in range(TRIES):
            if self._sockets() <= most:
                return True
            for end in socket.socketpair():
                end.close()
            time.sleep(PAUSE_SECONDS)
        return self._sockets() <= most

    def _sockets(self) -> int:
        """Return how many sockets there are in the box, 0 if the kernel does not say."""
        return 0 if self._told is None else int(self._hear().split(maxsplit=3)[2])

    def _hear(self) -> bytes:
        """Return the beginning of what the kernel says of sockets, which is mostly the same."""
        return b"" if self._told is None else os.pread(self._told, TOLD, 0)

    def inherited(self, first: int) -> Any:
        """Return what others of its user can change about a process, but its resource limits."""
        return os.sched_getaffinity(first), syscalls.scheduling(first)

    def fork_again(self) -> int:
        """Fork a guest, behind the same walls."""
        pid = self._fork()
        if pid == 0:
            self._among.go()
        return pid

    def entering(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Put up the walls that need rights: mounts, then a user namespace without any."""
        flags = syscalls.NOSUID | syscalls.NODEV | syscalls.NOEXEC
        apart = syscalls.Ready(
            self._hearing,
            ("siginterrupt", syscalls.LIBC.siginterrupt, (int(signal.SIGINT), 1)),
            (
                "prctl",
                syscalls.LIBC.prctl,
                (syscalls.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0),
            ),
            ("unshare", syscalls.LIBC.unshare, (syscalls.NEWNS | syscalls.NEWIPC,)),
            syscalls.mounting("proc", "/proc", "proc", flags | syscalls.READ_ONLY, "hidepid=2"),
            *(() if self._shared else (_mounting_scratch(limits["scratch_bytes"]),)),
            ("unshare", syscalls.LIBC.unshare, (syscalls.NEWUSER,)),
        )
        processes = (limits["processes"], limits["processes"])
        return (
            (apart.go, ()),
            # if memory runs out it has to go, not its keeper
            *syscalls.writing("self/oom_score_adj", b"1000", free),
            *syscalls.mapping_user(USER, 0, 0, free, "self"),
            (resource.setrlimit, (resource.RLIMIT_NPROC, processes)),
            (os.chdir, (SCRATCH,)),
        )

    def sealing(self) -> Sequence[Step]:
        """Give up all rights and most system calls."""
        return ((self._sealing.go, ()),)

    def kill(self) -> None:
        """End the guest and everything it started."""
        os.kill(self._init, signal.SIGKILL)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """End what the guest left running."""
        if self._waits:
            os.kill(self._init, signal.SIGKILL)
            os.waitpid(self._init, 0)  # and with it for all that is in the namespace
            if self._told is not None and os.pread(self._told, TOLD, 0) != self._quiet:
                self.tidy()

    def wipe(self) -> None:
        """Empty a shared scratch folder; one of a guest's own went with the guest."""
        if self._shared:
            syscalls.unmount(SCRATCH)
            syscalls.perform(_mounting_scratch(self._shared))

    def remove(self) -> None:
        """Nothing is left to be removed: mounts go with the last process."""


def _open(path: str) -> int | None:
    """Open what the kernel tells, if it does."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None


def _mounting_scratch(size: int) -> syscalls.Call:
    options = f"size={size},nr_inodes={INODES},mode=700"
    return syscalls.mounting("scratch", SCRATCH, "tmpfs", syscalls.NOSUID | syscalls.NODEV, options)
