"""What guests leave behind: processes that have to be ended, folders that have to be emptied."""

import os
import signal
import stat
from collections.abc import Callable


def end_children(wait: Callable[[int], bool]) -> None:
    """Kill until no child is left; `wait` waits for one, any if -1, and says if there was one.

    Whoever calls this has made itself the one to whom orphans fall, so that no process below it
    can hide from its list of children.
    """
    while True:
        for pid in _children():
            kill_and_reap(pid)
        if not wait(-1):
            return


def kill_and_reap(pid: int) -> None:
    """Kill a process that may have ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it died by itself


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []  # no such file here: the caller reaches what it knows of


def empty_folder(folder: str) -> None:
    """Remove all that a folder holds, whatever rights were taken away and however deep it goes.

    What lies two levels down is moved up first: so no path grows long and no call nests, which a
    guest could make fail. Nobody may be at work in the folder any more.
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
    """Say whether a path is a folder; if so its owner may use it from now on."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        return False
    os.chmod(path, 0o700)
    return True
