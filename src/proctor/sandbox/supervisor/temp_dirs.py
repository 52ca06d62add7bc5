"""Folders of boxes that have no file system of their own, and how none of them is left behind.

A folder is locked as long as anybody has the descriptor that locked it: at first the supervisor,
which made it, then the keeper, which inherits it. The keeper removes the folder at its end. If the
keeper was killed, its supervisor does. If both were, the next process that makes such a folder
finds that this one is not locked, and removes it, too.
"""

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform != "win32":  # where a folder cannot be locked, nor a box be had
    import fcntl

from proctor.errors import SandboxError, boundary
from proctor.sandbox.inside.isolation.cleanup import empty_folder
from proctor.sandbox.supervisor.environment import ENVIRONMENT

PREFIX = "proctor-box-"
PATIENCE_SECONDS = 2.0
CONTENTS = re.compile(r"scratch|packages|door|fds\.sock|seccomp\.json|[0-9a-f]{16}[0-9]+")
"""What may lie in such a folder, also while it is being emptied; else it is somebody's own."""


class LockedTempDir:
    """One folder, held by whoever has its descriptor."""

    def __init__(self, fill: Callable[[Path], None]) -> None:
        """Make it and `fill` it, or leave nothing."""
        with boundary(SandboxError, "cannot make a folder for a box"):
            parent = parent_folder()
            sweep(parent)
            self.path, self.fd = _make(parent)
            try:
                fill(self.path)
            except BaseException:
                self.remove()
                raise

    def hand_over(self) -> None:
        """Leave it to the keeper, which has inherited the descriptor."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def remove(self) -> None:
        """Remove it, if the keeper has not; a guest that outlives its keeper is about to end."""
        end = time.monotonic() + PATIENCE_SECONDS
        with suppress(OSError):  # somebody may still be at work in it; a later sweep will do it
            while _in_use(self.path) and time.monotonic() < end:
                time.sleep(0.005)
            _clear(self.path)
        self.hand_over()


def _make(parent: Path) -> tuple[Path, int]:
    """Make a folder and lock it; another one if somebody swept it away before it was locked."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            fd = os.open(path, os.O_RDONLY)
            if _held(fd) and path.exists():
                return path, fd
            os.close(fd)


def parent_folder() -> Path:
    """Return where folders of boxes are made."""
    return Path(ENVIRONMENT.get("TMPDIR") or tempfile.gettempdir()).resolve()


@cache
def sweep(parent: Path) -> None:
    """Remove folders that nobody holds any more, once for every process."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or being removed, or where there are no locks
            _sweep(path)


def _sweep(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(fd).st_uid == os.geteuid():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear(path)
    finally:
        os.close(fd)


def _held(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where nobody sweeps either
    return True


def show_packages(folder: Path, packages: Sequence[tuple[str, str]]) -> None:
    """Put packages into sight: their names, and where they lie."""
    folder.mkdir()
    for name, path in packages:
        (folder / name).symlink_to(path)


def _clear(path: Path) -> None:
    """Remove a folder, if it holds nothing but a box's things and nobody is at work in it."""
    if not path.exists() or _in_use(path):
        return
    if all(CONTENTS.fullmatch(inside.name) for inside in path.iterdir()):
        empty_folder(str(path))
        path.rmdir()


def _in_use(path: Path) -> bool:
    """Say whether a guest with a user id of its own is still alive."""
    try:
        owner = (path / "scratch").stat().st_uid
    except FileNotFoundError:
        return False
    return owner != os.geteuid() and any(map(_alive, _processes(owner)))


def _processes(user: int) -> Iterator[Path]:
    """Yield the processes of a user."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            if process.stat().st_uid == user:
                yield process


def _alive(process: Path) -> bool:
    """Say whether a process has not ended; one that nobody waits for is still in sight."""
    try:
        return (process / "stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False
