"""The access log: one JSON object a request, without secrets, bodies or addresses' queries.

Lines are gathered and written by a thread of their own, so a disk or a reader that is slow makes
no request wait; what is too much for it is left out, and the log says how much.
"""

import os
import threading
from typing import Any

import msgspec

MAX_LINES = 10_000
PAUSE = 0.2
"""Seconds between two writes."""


class AccessLog:
    """Writes what happened to a descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: list[bytes] = []
        self._left_out = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write, name="access log", daemon=True)
        self._thread.start()

    def add(self, **fields: Any) -> None:
        """Log one request."""
        with self._lock:
            if len(self._lines) < MAX_LINES:
                self._lines.append(msgspec.json.encode(fields))
            else:
                self._left_out += 1

    def close(self) -> None:
        """Write the rest."""
        self._end.set()
        self._thread.join(5.0)

    def _write(self) -> None:
        ended = False
        while not ended:
            ended = self._end.wait(PAUSE)
            with self._lock:
                lines, self._lines = self._lines, []
                left_out, self._left_out = self._left_out, 0
            if left_out:
                lines.append(msgspec.json.encode({"left_out": left_out}))
            text = b"".join(line + b"\n" for line in lines)
            try:
                while text:
                    text = text[os.write(self._fd, text) :]
            except OSError:
                continue  # nobody reads it, or the disk is full: that must not end the service
