"""A nest with walls: every guest gets pid, mount, ipc and user namespaces of its own.

The keeper is itself in a box: namespaces of its own, a read-only root, no network. For each guest
it makes a pid namespace with an init that only waits, forks into it, and comes back. The child
mounts an empty scratch folder and its own /proc, gives itself a user namespace in which it is
nobody in particular, and closes the door: no capabilities, no new privileges, few system calls.
Killing the init kills all.
"""

import os
import resource
import signal
from collections.abc import Callable
from typing import Any

from . import linux

SCRATCH = "/tmp"
USER = 1000
INODES = 16384
SESSION_BYTES = 1 << 30


class Namespaces:
    """Guests of the kernel tier."""

    def __init__(self, filter_code: bytes, *, shared: bool = False) -> None:
        self.scratch = SCRATCH
        self._filter = linux.Filter(filter_code)
        self._pauser = linux.Pauser()
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._init = 0
        self._shared = shared
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        # a handler of ours would let a guest signal the init of its namespace, whose memory is ours
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if shared:
            self._mount_scratch(SESSION_BYTES)
        flags = linux.NOSUID | linux.NODEV | linux.NOEXEC
        self._apart = linux.Ready(
            ("prctl", linux.LIBC.prctl, (linux.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)),
            ("unshare", linux.LIBC.unshare, (linux.NEWNS | linux.NEWIPC,)),
            linux.mounting("proc", "/proc", "proc", flags, "hidepid=2"),
        )
        self._sealing = linux.Ready(
            linux.dropping(),
            ("prctl", linux.LIBC.prctl, (linux.PR_SET_DUMPABLE, 1, 0, 0, 0)),
            *self._filter.installing,
        )

    def fork(self) -> int:
        """Fork a guest into a pid namespace of its own."""
        linux.unshare(linux.NEWPID)
        self._init = self._pauser.start(signal.SIGCHLD)
        pid = os.fork()
        if pid != 0:
            linux.setns(self._own, linux.NEWPID)
        return pid

    def enter(self, limits: dict[str, Any]) -> None:
        """Put up the walls that need rights: mounts, then a user namespace without any."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._apart.go()
        if not self._shared:
            self._mount_scratch(limits["scratch_bytes"])
        linux.unshare(linux.NEWUSER)
        linux.map_user(USER, 0, 0)
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
        os.chdir(SCRATCH)

    def seal(self) -> None:
        """Give up all rights and most system calls."""
        self._sealing.go()

    def kill(self) -> None:
        """End the guest and everything it started."""
        os.kill(self._init, signal.SIGKILL)

    def sweep(self, wait: Callable[[], bool]) -> None:
        """End what the guest left running."""
        self.kill()
        while wait():
            pass

    def wipe(self) -> None:
        """Empty a shared scratch folder; one of a guest's own went with the guest."""
        if self._shared:
            linux.unmount(SCRATCH)
            self._mount_scratch(SESSION_BYTES)

    def remove(self) -> None:
        """Nothing is left to be removed: mounts go with the last process."""

    @staticmethod
    def _mount_scratch(size: int) -> None:
        options = f"size={size},nr_inodes={INODES},mode=700"
        linux.mount("scratch", SCRATCH, "tmpfs", linux.NOSUID | linux.NODEV, options)
