"""Boxes that are used more than once: for many runs of one program, or for a session."""

import threading
from collections.abc import Callable

import msgspec

from proctor.program import Program
from proctor.sandbox import Execution, Limits
from proctor.sandbox.box import Box


def run_in(box: Box, program: Program, limits: Limits, stdin: bytes) -> Execution:
    """Run a program in a box and wait for its end."""
    guest = box.start("program", limits, program=program, stdin=stdin)
    guest.wait()
    return guest.finish()


class BoxRuns:
    """One program run again and again, each time as if for the first."""

    def __init__(
        self, box: Box, program: Program, limits: Limits, finally_: Callable[[], None]
    ) -> None:
        self._box = box
        self._program = program
        self._limits = limits
        self._finally = finally_

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once, in an empty scratch folder."""
        limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
        self._box.wipe()
        return run_in(self._box, self._program, limits, stdin)

    def close(self) -> None:
        """Give the box back."""
        self._finally()


class BoxSession:
    """A box that lives: files stay until it is closed or idles too long."""

    def __init__(self, box: Box, limits: Limits, idle_seconds: float) -> None:
        self._box = box
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._timer = self._wind_up()

    def exec(self, program: Program, stdin: bytes = b"") -> Execution:
        """Run one program in the session's scratch folder."""
        with self._lock:
            self._timer.cancel()
            try:
                return run_in(self._box, program, self._limits, stdin)
            finally:
                self._timer = self._wind_up()

    def read(self, path: str) -> bytes:
        """Return a file of the scratch folder."""
        with self._lock:
            return self._box.read(path)

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        with self._lock:
            self._box.write(path, content)

    def close(self) -> None:
        """End whatever runs and remove the scratch folder."""
        self._timer.cancel()
        with self._lock:
            self._box.close()

    def _wind_up(self) -> threading.Timer:
        timer = threading.Timer(self._idle_seconds, self.close)
        timer.daemon = True
        timer.start()
        return timer
