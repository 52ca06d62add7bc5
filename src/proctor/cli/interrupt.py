"""Ctrl-C, or being asked to end: once finishes and saves what runs, twice stops now."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

NOTICE = b"\nproctor: finishing what runs; Ctrl-C again stops now\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def terminable() -> Iterator[None]:
    """Take being asked to end for Ctrl-C, which ends a command in good order."""
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Interrupt:
    """Hears signals in place of Python, from `listen` to `restore`."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.now = False
        self._before: dict[signal.Signals, Any] = {}

    def listen(self) -> None:
        """Begin to hear, unless the process was started deaf to a signal."""
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._hear)

    def restore(self) -> None:
        """Let Python hear them again."""
        for number, before in self._before.items():
            signal.signal(number, before)

    def _hear(self, number: int, frame: object) -> None:
        del number, frame
        if self.stop.is_set():
            self.now = True
            raise KeyboardInterrupt
        self.stop.set()
        with suppress(OSError):  # there may be nobody who reads it
            os.write(2, NOTICE)
