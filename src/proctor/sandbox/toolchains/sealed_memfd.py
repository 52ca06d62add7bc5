"""Files of memory that nobody can change any more, given to guests by their descriptors."""

import os
import sys
import threading
from collections.abc import Callable

if sys.platform != "win32":  # where no program of another language is run
    import fcntl


def seal_file(content: bytes | memoryview) -> int:
    """Return a file that nobody can change."""
    file = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


class SealedFile:
    """Such files by name, made when they are first asked for; safe for use by several threads."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._lock = threading.Lock()

    def file(self, name: str, make: Callable[[], bytes]) -> int:
        """Return a descriptor, the caller's own, of a file."""
        with self._lock:
            if name not in self._files:
                self._files[name] = seal_file(make())
            return os.dup(self._files[name])

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            while self._files:
                os.close(self._files.popitem()[1])
