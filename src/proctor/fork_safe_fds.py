"""Pipes and sockets that a process which the host forks must not hold open.

A trainer forks workers whenever it likes, also while its other threads grade. A copy of our end
of a pipe in such a worker would keep a candidate waiting for the end of its input, and a copy of
a keeper's socket would keep its box alive when we are gone. Exec closes them, fork does not: so a
forked child replaces every one of them by /dev/null before anything else happens in it.
"""

import os
import socket
import threading
from contextlib import AbstractContextManager

_made: dict[int, tuple[int, int]] = {}
"""Which file a descriptor was of; one that is another's by now has another file."""
_making = threading.RLock()
"""Held by whoever is about to fork; also by itself, in a handler of signals."""


def no_forks() -> AbstractContextManager[object]:
    """Have the threads that want to fork wait.

    Starting a program makes pipes, too, which Python closes when it has started. If a process
    that another thread forks meanwhile has copies, it waits until that one ends.
    """
    return _making


def pipe() -> tuple[int, int]:
    """Return both ends of a new pipe."""
    with _making:
        ends = os.pipe()
        _remember(*ends)
    return ends


def socketpair(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    """Return both ends of a new connection within this machine."""
    with _making:
        ends = socket.socketpair(socket.AF_UNIX, kind)
        _remember(*(end.fileno() for end in ends))
    return ends


def _remember(*descriptors: int) -> None:
    for descriptor in descriptors:
        _made[descriptor] = _file_of(descriptor)


def _file_of(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _disown() -> None:
    """Let go of everything; the numbers stay taken, as objects that will close them live on."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor, file in _made.items():
        try:
            if _file_of(descriptor) == file:
                os.dup2(nothing, descriptor, inheritable=False)
        except OSError:
            continue  # closed long ago
    os.close(nothing)
    _made.clear()
    _making.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_making.acquire, after_in_parent=_making.release, after_in_child=_disown
    )
