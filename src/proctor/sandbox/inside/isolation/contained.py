"""An environment without namespaces, for containers and pods that do not allow any.

Guests are confined by Landlock (only the files of the interpreter, its packages and the scratch
folder), a system-call filter (one process, no sockets, no signals to others), and, if the keeper
runs as root, an otherwise unused user id. The keeper's effective user id is that one, so that the
guest owns what the keeper creates; its real id stays 0, so that no guest may signal or trace it.

A guest cannot fork, so there is one guest process at a time. The keeper creates a new scratch
folder for every guest. If it cannot empty the old one, it exits and the box ends.
"""

import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

from . import libc
from .cleanup import empty_folder, end_children, kill_and_reap
from .environment import GuestEnvironment, Step
from .landlock import READ, SCRATCH, Landlock


class Contained(GuestEnvironment):
    """Guests of the contained tier."""

    def __init__(
        self,
        *,
        folder: str,
        filter_code: bytes,
        own_pid: int,
        abi: int,
        rules: list[tuple[str, int]],
        users: tuple[int, int] | None,
        kept_capabilities: int,
        shared_scratch: bool,
    ) -> None:
        """Claim a user id and create the scratch folder.

        Args:
            folder: An existing folder, for the scratch folder.
            filter_code: The system-call filter of guests.
            own_pid: The number that stands for the guest's pid in the filter.
            abi: The version of Landlock; 0 if there is none.
            rules: The paths that guests may access, and how.
            users: First and number of the user ids to choose from; None without root.
            kept_capabilities: The capabilities that guests keep, as a set of bits.
            shared_scratch: Whether the scratch folder stays from guest to guest.
        """
        self.scratch = f"{folder}/scratch"
        self._folder = folder
        self._filter_code, self._own_pid = filter_code, struct.pack("I", own_pid)
        self._landlock = Landlock(abi, rules) if abi else None
        self._kept_capabilities = kept_capabilities
        self._shared_scratch = shared_scratch
        self._guest = 0
        self._user = os.geteuid()
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
        self._privileged = users is not None
        if users is not None:
            self._user, self._claim = _claim_user(*users)
            os.setgroups([])
            os.setegid(self._user)
        self._make_scratch()
        libc.prctl(libc.PR_SET_DUMPABLE, 0)

    def open(self) -> None:
        """Do nothing: the set-up is complete."""

    def fork(self) -> int:
        """Fork a guest; restrict its files while the descriptors of all rules are still open."""
        self._guest = os.fork()
        if self._guest == 0 and self._landlock is not None:
            try:
                self._landlock.restrict([(self.scratch, SCRATCH), ("/proc/self", READ)])
            except BaseException as error:
                os.write(2, f"{error}\n".encode())
                os._exit(120)  # the child must not return into the keeper's code
        return self._guest

    def enter_steps(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Return the step that drops to the guests' user id and changes to the scratch folder."""
        del free
        return ((self._enter, (limits,)),)

    def _enter(self, limits: dict[str, Any]) -> None:
        os.chdir(self.scratch)
        if self._privileged:
            os.seteuid(0)
            libc.prctl(libc.PR_SET_KEEPCAPS, int(self._kept_capabilities != 0))
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)
            libc.drop_capabilities(but=self._kept_capabilities)
            resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)

    def seal_steps(self) -> Sequence[Step]:
        """Return the step that installs the system-call filter."""
        return ((self._seal, ()),)

    def _seal(self) -> None:
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        code = self._filter_code.replace(self._own_pid, struct.pack("I", os.getpid()))
        libc.Filter(code).install()

    def kill(self) -> None:
        """Kill the guest, which is one process."""
        kill_and_reap(self._guest)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """Kill all children; also empty the scratch folder, unless guests share it."""
        end_children(wait)
        if not self._shared_scratch:
            try:
                self.wipe()
            except OSError as error:
                os.write(2, f"the scratch folder cannot be emptied: {error}\n".encode())
                os._exit(1)

    def wipe(self) -> None:
        """Replace the scratch folder by a new one; fails if anything is left in it."""
        empty_folder(self.scratch)
        self._act_as(0)
        os.rmdir(self.scratch)
        self._make_scratch()

    def remove(self) -> None:
        """Remove all folders."""
        empty_folder(self.scratch)
        self._act_as(0)
        empty_folder(self._folder)
        os.rmdir(self._folder)

    def _make_scratch(self) -> None:
        os.mkdir(self.scratch, 0o700)
        if self._privileged:
            os.chown(self.scratch, self._user, self._user)
            self._act_as(self._user)

    def _act_as(self, user: int) -> None:
        if self._privileged:
            os.seteuid(user)
            if user:
                libc.use_capabilities(self._kept_capabilities)


def _claim_user(first: int, count: int) -> tuple[int, socket.socket]:
    """Return an unused user id, and the socket whose abstract name reserves it while open."""
    for step in range(count):
        user = first + (os.getpid() + step) % count
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0proctor-user-{user}")
        except OSError:
            lock.close()
            continue
        if user not in _users():
            return user, lock
        lock.close()
    raise OSError("there is no user id left for a box")


def _users() -> set[int]:
    """Return the ids of all users that own a process."""
    users = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            users.add(os.stat(f"/proc/{pid}").st_uid)
        except OSError:
            pass  # the process has just ended
    return users
