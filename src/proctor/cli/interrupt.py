"""Ctrl-C: once finishes and saves what runs, twice stops now."""

import os
import signal
import threading
from typing import Any

NOTICE = b"\nproctor: finishing what runs; Ctrl-C again stops now\n"


class Interrupt:
    """Hears SIGINT in place of Python, from `listen` to `restore`."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.now = False
        self._before: Any = None

    def listen(self) -> None:
        """Begin to hear, unless the process was started deaf to it."""
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._hear)

    def restore(self) -> None:
        """Let Python hear it again."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: object) -> None:
        del number, frame
        if self.stop.is_set():
            self.now = True
            raise KeyboardInterrupt
        self.stop.set()
        os.write(2, NOTICE)
