"""The environment of the kernel tier: new pid, mount, ipc and user namespaces for every guest.

The keeper already runs in a box: its own namespaces, a read-only root, no network. For each guest
it creates a pid namespace with an init that only waits, and forks into it. The child mounts an
empty scratch folder and its own /proc, enters a user namespace in which it is an unprivileged
user, and gives up its remaining rights: no capabilities, no new privileges, few system calls.
Killing the init kills every process in the namespace. Where one program runs many times, that
child is itself the init (`keeper/repeated_runs.py`).
"""

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import libc
from .environment import ReusableEnvironment, Step

SCRATCH = "/tmp"
USER = 1000
INODES = 16384
SOCKSTAT, SOCKSTAT_BYTES = "/proc/net/sockstat", 64
TRIES, PAUSE_SECONDS = 100, 0.0005
"""How often to check that orphaned sockets are gone, and the pause between two checks."""
FORK_AWARE = {"random", "threading"}
"""Standard modules that register fork hooks; every other module with hooks imports one of them."""


class Namespaces(ReusableEnvironment):
    """Guests of the kernel tier."""

    def __init__(self, filter_code: bytes, *, own_filter: bytes, shared_bytes: int = 0) -> None:
        """Prepare all that does not depend on the guest.

        Args:
            filter_code: The system-call filter that guests install.
            own_filter: The filter of this process, which guests inherit.
            shared_bytes: The size of the scratch folder that guests share; 0 if each has its own.
        """
        self.scratch = SCRATCH
        self._filter = libc.Filter(filter_code)
        self._pauser = libc.Pauser()
        self._collector = libc.Collector()
        os.chdir("/proc")  # the box's, which children can write to; they mount theirs read-only
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        # After unshare, children are created in the namespace of the last guest: go back first.
        self._new_pid_namespace = libc.PreparedCalls(
            ("setns", libc.LIBC.setns, (own, libc.NEWPID)),
            ("unshare", libc.LIBC.unshare, (libc.NEWPID,)),
        )
        self._init = 0
        self._init_only_waits = True  # false where the init is the program itself
        self._sockstat = _open(SOCKSTAT)
        self._max_sockets = self._count_sockets()
        self._sockstat_at_start = self._read_sockstat()
        self._shared_bytes = shared_bytes
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        # If this process had a handler for SIGINT, a guest could signal the init of its namespace,
        # which shares our memory. So reset it in the kernel only, behind Python's back; children
        # put Python's handler back after the fork.
        on_interrupt = libc.LIBC.signal(int(signal.SIGINT), 0)
        if shared_bytes:
            libc.run_calls(_mount_scratch(shared_bytes))
        self._fork = os.fork if sys.modules.keys() & FORK_AWARE else libc.fork
        ignore_interrupts, self._restore_interrupts = (
            ("signal", libc.LIBC.signal, (int(signal.SIGINT), handler))
            for handler in (0, on_interrupt)
        )
        undumpable, dumpable = (
            ("prctl", libc.LIBC.prctl, (libc.PR_SET_DUMPABLE, value, 0, 0, 0)) for value in (0, 1)
        )
        self._seal = libc.PreparedCalls(
            libc.drop_capabilities_call(), dumpable, self._filter.install_calls[-1]
        )
        self._shield_first = libc.PreparedCalls(ignore_interrupts, undumpable)
        # a new process group, so that `killpg(0)` of a run does not hit the first process
        self._enter_run = libc.PreparedCalls(
            self._restore_interrupts, dumpable, ("setpgid", libc.LIBC.setpgid, (0, 0))
        )
        self._own_filter = libc.Filter(own_filter)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)  # required to install a filter

    def open(self) -> None:
        """Install the filter of this process; from now on it may only do what guests need."""
        self._own_filter.install()

    def fork(self) -> int:
        """Fork a guest into a new pid namespace."""
        self._new_pid_namespace.run()
        self._init, self._init_only_waits = self._pauser.start(), True
        return self._fork()

    def fork_first(self) -> int:
        """Fork a process that is the init of a new pid namespace."""
        self._new_pid_namespace.run()
        pid = self._fork()
        if pid != 0:
            self._init, self._init_only_waits = pid, False
        return pid

    def shield_from_runs(self) -> None:
        """Make this process ignore signals from runs, and hide its memory from them."""
        self._shield_first.run()

    def collect(self, pid: int) -> memoryview:
        """Wait for a run, kill what it left running, and return the report about both."""
        return self._collector.collect(pid)

    def free_orphaned_sockets(self, own_sockets: int = 0) -> bool:
        """Have the kernel free sockets that are only referenced from each other's queues.

        No process holds such sockets, but every process in the box can read their names, files
        sent with them stay open, and they count towards the descriptors that a user may send. The
        kernel collects them shortly after any socket is closed. Return True if no more than
        `own_sockets` are left.
        """
        if self._sockstat is None:
            return False
        max_sockets = self._max_sockets + own_sockets
        for _ in range(TRIES):
            if self._count_sockets() <= max_sockets:
                return True
            for end in socket.socketpair():
                end.close()
            time.sleep(PAUSE_SECONDS)
        return self._count_sockets() <= max_sockets

    def _count_sockets(self) -> int:
        """Return how many sockets exist in the box; 0 if the kernel does not say."""
        return 0 if self._sockstat is None else int(self._read_sockstat().split(maxsplit=3)[2])

    def _read_sockstat(self) -> bytes:
        """Return the first bytes of the socket statistics, which rarely change."""
        return b"" if self._sockstat is None else os.pread(self._sockstat, SOCKSTAT_BYTES, 0)

    def inheritable_state(self, first: int) -> Any:
        """Return the attributes of a process that its user can change, except resource limits."""
        return os.sched_getaffinity(first), libc.scheduling_state(first)

    def fork_again(self) -> int:
        """Fork a run into the namespaces of this process."""
        pid = self._fork()
        if pid == 0:
            self._enter_run.run()
        return pid

    def enter_steps(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Return the steps that need rights: mounts, then a user namespace without any rights."""
        flags = libc.NOSUID | libc.NODEV | libc.NOEXEC
        unshare_and_mount = libc.PreparedCalls(
            self._restore_interrupts,
            ("siginterrupt", libc.LIBC.siginterrupt, (int(signal.SIGINT), 1)),
            (
                "prctl",
                libc.LIBC.prctl,
                (libc.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0),
            ),
            ("unshare", libc.LIBC.unshare, (libc.NEWNS | libc.NEWIPC,)),
            libc.mount_call("proc", "/proc", "proc", flags | libc.READ_ONLY, "hidepid=2"),
            *(() if self._shared_bytes else (_mount_scratch(limits["scratch_bytes"]),)),
            ("unshare", libc.LIBC.unshare, (libc.NEWUSER,)),
        )
        processes = (limits["processes"], limits["processes"])
        return (
            (unshare_and_mount.run, ()),
            # if memory runs out, the kernel must kill the guest and not its keeper
            *libc.write_steps("self/oom_score_adj", b"1000", free),
            *libc.map_user_steps(USER, 0, 0, free, "self"),
            (resource.setrlimit, (resource.RLIMIT_NPROC, processes)),
            (os.chdir, (SCRATCH,)),
        )

    def seal_steps(self) -> Sequence[Step]:
        """Return the step that gives up all capabilities and most system calls."""
        return ((self._seal.run, ()),)

    def kill(self) -> None:
        """Kill the guest and everything it started."""
        os.kill(self._init, signal.SIGKILL)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """Kill what the guest left running."""
        if self._init_only_waits:
            os.kill(self._init, signal.SIGKILL)
            os.waitpid(self._init, 0)  # returns when every process of the namespace has ended
            if (
                self._sockstat is not None
                and os.pread(self._sockstat, SOCKSTAT_BYTES, 0) != self._sockstat_at_start
            ):
                self.free_orphaned_sockets()

    def wipe(self) -> None:
        """Empty the shared scratch folder; a guest's own folder ended with its mount namespace."""
        if self._shared_bytes:
            libc.unmount(SCRATCH)
            libc.run_calls(_mount_scratch(self._shared_bytes))

    def remove(self) -> None:
        """Do nothing: the mounts end with the last process."""


def _open(path: str) -> int | None:
    """Open a file of /proc; None if this kernel does not have it."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None


def _mount_scratch(size: int) -> libc.Call:
    options = f"size={size},nr_inodes={INODES},mode=700"
    return libc.mount_call("scratch", SCRATCH, "tmpfs", libc.NOSUID | libc.NODEV, options)
