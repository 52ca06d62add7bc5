"""Removes what guests leave behind: processes and files."""

import os
import signal
import stat
from collections.abc import Callable


def end_children(wait: Callable[[int], bool]) -> None:
    """Kill until no child is left; `wait` reaps a pid, any if -1, and returns True if it did.

    The caller must be a child subreaper: then every orphan below it becomes its child.
    """
    while True:
        for pid in _children():
            kill_and_reap(pid)
        if not wait(-1):
            return


def kill_and_reap(pid: int) -> None:
    """Kill a process, if it has not ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended by itself


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []  # this kernel does not list children: the caller kills those it knows


def empty_folder(folder: str) -> None:
    """Remove everything in a folder, whatever its access rights and however deep it is nested.

    Folders two levels down are moved up first, so no path gets too long and nothing recurses: a
    guest could make either fail. No process may still be writing to the folder.
    """
    os.chmod(folder, 0o700)
    moved, token = 0, os.urandom(8).hex()
    while names := os.listdir(folder):
        for name in names:
            path = f"{folder}/{name}"
            if not _is_folder(path):
                os.unlink(path)
                continue
            for below in os.listdir(path):
                inner = f"{path}/{below}"
                if _is_folder(inner):
                    os.rename(inner, f"{folder}/{token}{moved}")
                    moved += 1
                else:
                    os.unlink(inner)
            os.rmdir(path)


def _is_folder(path: str) -> bool:
    """Return True if a path is a folder, and then give its owner access to it."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        return False
    os.chmod(path, 0o700)
    return True
