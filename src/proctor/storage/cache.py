"""A cache of files that are slow to make, in the user's cache folder.

A file begins with the digest of its content, so that damaged ones count as missing. The least
recently used files are deleted when the cache is full. Errors of the cache are ignored: without a
folder, or without space in it, files are made again.
"""

import hashlib
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from proctor.records.limits import MIB
from proctor.storage.home import home

MAX_BYTES = 1024 * MIB
DIGEST_BYTES = 32


class Cache:
    """A folder of files by key; safe for use by several threads and processes."""

    def __init__(
        self, name: str, max_bytes: int = MAX_BYTES, made_with: Sequence[str] = ()
    ) -> None:
        """Open a cache; a change of a file or folder in `made_with` invalidates its content."""
        self.folder = home(".cache", "proctor", name)
        """The folder of the files; None for a user without a home."""
        self._max_bytes = max_bytes
        self._room = 0
        """Bytes that may be added before the size is measured again: other processes add, too."""
        stamps = repr([*map(_changed, made_with)]).encode()
        self._stamp = f"-{hashlib.sha256(stamps).hexdigest()[:16]}" if made_with else ""

    def get(self, key: str) -> bytes | None:
        """Return the content of a key; None if it is missing or damaged."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}{self._stamp}"
        try:
            with path.open("rb") as file:
                digest, content = file.read(DIGEST_BYTES), file.read()
            os.utime(path)
        except OSError:
            return None
        return content if hashlib.sha256(content).digest() == digest else None

    def put(self, key: str, content: bytes) -> None:
        """Keep something, if that can be done."""
        if self.folder is None:
            return
        beside = self.folder / f"{key}.{os.getpid()}.{threading.get_ident()}.part"
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with beside.open("wb") as file:
                    file.writelines((hashlib.sha256(content).digest(), content))
                beside.rename(self.folder / f"{key}{self._stamp}")
            finally:
                beside.unlink(missing_ok=True)
            self._room -= DIGEST_BYTES + len(content)
            if self._room < 0:
                self._shrink(self.folder)

    def _shrink(self, folder: Path) -> None:
        """Let go of what was not asked for for longest, until the rest is little enough."""
        stats = ((path.stat(), path) for path in folder.iterdir())
        files = sorted((stat.st_mtime, stat.st_size, path) for stat, path in stats)
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self._max_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size
        self._room = (self._max_bytes - total) // 8


def _changed(path: str) -> int:
    """Return when something was changed last, 0 if it is not there."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0
