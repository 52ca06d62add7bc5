"""A nest without namespaces: for containers and pods that refuse to make any.

What stands between a guest and the rest: Landlock (no file but the interpreter's, its packages and
the scratch folder), a system-call filter (one process, no sockets, no signals to others), and,
where we are root, a user id that nobody else has. The keeper acts as that user, so that all it
makes is the guest's; its real id stays root's, so that no guest may signal or trace it.

One process at a time lives here: a guest cannot fork. The scratch folder is made anew for every
guest, and a keeper that cannot remove what is in it ends, and its box with it.
"""

import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

from . import syscalls
from .cleanup import empty_folder, end_children, kill_and_reap
from .environment import GuestEnvironment, Step
from .landlock import READ, SCRATCH, Landlock


class Contained(GuestEnvironment):
    """Guests of the contained tier."""

    def __init__(
        self,
        *,
        place: str,
        filter_code: bytes,
        own_pid: int,
        abi: int,
        rules: list[tuple[str, int]],
        users: tuple[int, int] | None,
        kept: int,
        shared: bool,
    ) -> None:
        """Take a folder that is there; `own_pid` stands in the filter for the guest's pid.

        `users` are the first and the number of the user ids from which to take one for the guests.
        """
        self.scratch = f"{place}/scratch"
        self._place = place
        self._filter_code, self._own_pid = filter_code, struct.pack("I", own_pid)
        self._landlock = Landlock(abi, rules) if abi else None
        self._kept = kept
        self._shared = shared
        self._guest = 0
        self._user = os.geteuid()
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        self._privileged = users is not None
        if users is not None:
            self._user, self._claim = _claim_user(*users)
            os.setgroups([])
            os.setegid(self._user)
        self._make_scratch()
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)

    def open(self) -> None:
        """Nothing is left to be done."""

    def fork(self) -> int:
        """Fork a guest; its files are chosen while the descriptors of all rules are open."""
        self._guest = os.fork()
        if self._guest == 0 and self._landlock is not None:
            try:
                self._landlock.restrict([(self.scratch, SCRATCH), ("/proc/self", READ)])
            except BaseException as error:
                os.write(2, f"{error}\n".encode())
                os._exit(120)  # it must not go on as if it were the keeper
        return self._guest

    def entering(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Become nobody in particular, in the scratch folder."""
        del free
        return ((self._enter, (limits,)),)

    def _enter(self, limits: dict[str, Any]) -> None:
        os.chdir(self.scratch)
        if self._privileged:
            os.seteuid(0)
            syscalls.prctl(syscalls.PR_SET_KEEPCAPS, int(self._kept != 0))
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)
            syscalls.drop_capabilities(but=self._kept)
            resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)

    def sealing(self) -> Sequence[Step]:
        """Give up most system calls."""
        return ((self._seal, ()),)

    def _seal(self) -> None:
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        code = self._filter_code.replace(self._own_pid, struct.pack("I", os.getpid()))
        syscalls.Filter(code).install()

    def kill(self) -> None:
        """End the guest, which is one process."""
        kill_and_reap(self._guest)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """See that nothing is left: no process, and no file but in a session."""
        end_children(wait)
        if not self._shared:
            try:
                self.wipe()
            except OSError as error:
                os.write(2, f"the scratch folder cannot be emptied: {error}\n".encode())
                os._exit(1)

    def wipe(self) -> None:
        """Make the scratch folder anew; the old one can only be removed if nothing is left."""
        empty_folder(self.scratch)
        self._act_as(0)
        os.rmdir(self.scratch)
        self._make_scratch()

    def remove(self) -> None:
        """Remove all folders."""
        empty_folder(self.scratch)
        self._act_as(0)
        empty_folder(self._place)
        os.rmdir(self._place)

    def _make_scratch(self) -> None:
        os.mkdir(self.scratch, 0o700)
        if self._privileged:
            os.chown(self.scratch, self._user, self._user)
            self._act_as(self._user)

    def _act_as(self, user: int) -> None:
        if self._privileged:
            os.seteuid(user)
            if user:
                syscalls.use_capabilities(self._kept)


def _claim_user(first: int, count: int) -> tuple[int, socket.socket]:
    """Find a user id that no box has; a socket of that name holds it for as long as it is open."""
    for step in range(count):
        user = first + (os.getpid() + step) % count
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0proctor-user-{user}")
        except OSError:
            held.close()
            continue
        if user not in _users():
            return user, held
        held.close()
    raise OSError("there is no user id left for a box")


def _users() -> set[int]:
    """Return the ids of all users that have a process."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.stat(f"/proc/{pid}").st_uid)
        except OSError:
            pass  # it has just ended
    return found
