"""How much the files of a guest take, where no file system of its own limits that."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

MIN_BYTES = 4096
"""What a file or folder takes at the least: many empty ones are much, too."""
MAX_FILES = 16384
TOO_MUCH = sys.maxsize


def disk_usage(scratch: str, holders: Callable[[], Iterable[int]]) -> int:
    """Return the bytes that files of a scratch folder take, removed ones that are open included.

    `holders` says which processes may have such files open, where that can be looked at. Very many
    files are more than there may be; so is what cannot be looked at, because it is nested too deep
    or its rights were taken away.
    """
    try:
        sizes = [_takes(entry) for entry in islice(_files(scratch), MAX_FILES + 1)]
        return sum(sizes) + _removed(holders()) if len(sizes) <= MAX_FILES else TOO_MUCH
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        return 0  # it is being removed; the next look tells
    except OSError:
        return TOO_MUCH


def _files(folder: str) -> Iterator[os.stat_result]:
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                yield entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)


def _removed(holders: Iterable[int]) -> int:
    """Return what files without a name take that a guest holds open."""
    found = (_opened(fd) for pid in holders for fd in _descriptors(pid))
    return sum(_takes(file) for file in found if file and file.st_nlink == 0)


def _descriptors(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except PermissionError:
        return []  # root without CAP_SYS_PTRACE may not look, and the walls say so


def _opened(fd: Path) -> os.stat_result | None:
    """Return what is known of an open file; None if it is something else or may not be known."""
    try:
        found = fd.stat()
    except (FileNotFoundError, PermissionError):
        return None  # closed meanwhile, or likewise
    return found if stat.S_ISREG(found.st_mode) else None


def _takes(found: os.stat_result) -> int:
    taken = found.st_blocks * 512 if sys.platform != "win32" else found.st_size
    return max(taken, MIN_BYTES)
