"""Cancellation of work whose result is no longer wanted: its guest is killed, no other one starts.

The caller makes a thread's work `cancellable`. Loops that wait for a guest poll `is_cancelled`, and
code that starts a guest calls `raise_if_cancelled` first. Work that other callers will use, such as
computing a reference's answers, is `shielded`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from proctor.records.execution import SandboxFailed

CANCELLED = SandboxFailed("nobody waits for it any more")
"""How a guest ends whose work was dropped."""


class Cancelled(BaseException):
    """The work goes no further; as with a cancelled task, nobody may take it for an error."""


class _Here(threading.local):
    dropped: threading.Event | None = None


_here = _Here()


@contextmanager
def cancellable(dropped: threading.Event) -> Iterator[None]:
    """Do work in this thread that ends by Cancelled when the event is set."""
    _here.dropped, before = dropped, _here.dropped
    try:
        raise_if_cancelled()
        yield
    finally:
        _here.dropped = before


@contextmanager
def shielded() -> Iterator[None]:
    """Do work in this thread that is worth finishing, whoever waits."""
    _here.dropped, before = None, _here.dropped
    try:
        yield
    finally:
        _here.dropped = before


def is_cancelled() -> bool:
    """Say whether nobody waits for what this thread does."""
    return _here.dropped is not None and _here.dropped.is_set()


def raise_if_cancelled() -> None:
    """Go no further if nobody waits."""
    if is_cancelled():
        raise Cancelled
