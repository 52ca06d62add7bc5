"""A notebook seen from outside: one guest that lives, and the cells that it is given.

Each cell has a clock, room for its output and the memory of the whole to itself. A cell that runs
out of time is interrupted, which leaves the names of the notebook as they are; if it does not heed
that, the guest is ended. Whatever else ends the guest ends the notebook: `alive` says so.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Denied, Ending, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, Malformed, TooLarge
from proctor.sandbox.limits.clock import ProcessLoad
from proctor.sandbox.supervisor.box import MAX_FILE_BYTES, Box
from proctor.sandbox.supervisor.guest import GuestEnded

MAX_DISPLAYS = 1000
MAX_TEXT = 8 * MIB
"""Of all that one cell shows and says of its error."""
LIFE_CPU_SECONDS = 360.0
"""Processor time of a whole notebook; the kernel ends it at ten times that."""
OUT_OF_TURN = Denied("to speak out of turn")


class Raised(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell raised."""

    ename: str
    evalue: str
    traceback: str


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a guest says of a cell; hostile."""

    shown: Sequence[Mapping[str, str]]
    raised: Raised | None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one cell."""

    stdout: bytes = b""
    stderr: bytes = b""
    shown: Sequence[Mapping[str, str]] = ()
    """By type of content, as in `text/plain`."""
    raised: Raised | None = None
    ending: Ending | None = None
    """Why it did not run to its end, if something from outside was the reason."""
    truncated: bool = False
    """Whether it wrote more than was kept."""
    seconds: float = 0.0


class Notebook:
    """One interpreter in a box of its own; safe for use by several threads, one cell at a time."""

    def __init__(self, box: Box, limits: Limits) -> None:
        """Take a box whose scratch folder stays; the limits on time are those of a usual cell."""
        self._box = box
        self._limits = limits
        self._lock = threading.Lock()
        self._number = 0
        self.alive = True
        self._closing = False
        whole = msgspec.structs.replace(limits, cpu_seconds=LIFE_CPU_SECONDS)
        try:
            self._guest = box.start("notebook", whole, gentle=True)
        except BaseException:
            box.close()
            raise

    def execute(self, code: str, seconds: float | None = None) -> Cell:
        """Run one cell."""
        with self._lock:
            if not self.alive:
                raise SandboxError("the notebook has ended")
            self._number += 1
            try:
                return self._execute(code, self._number, seconds)
            except BaseException:
                self._end()
                raise

    def _execute(self, code: str, number: int, seconds: float | None) -> Cell:
        try:
            order = frames.pack(frames.CELL, number, frames.dump({"code": code}))
        except TooLarge as error:
            raise InputError(f"code: {error}") from None
        guest = self._guest
        guest.begin(self._limits if seconds is None else self._limits.with_seconds(seconds))
        before = guest.clock.passed
        said, ending = _Said(shown=(), raised=None), None
        try:
            guest.send(order)
            said = _read(guest.receive(), number)
        except GuestEnded as ended:
            ending = ended.ending
        except Malformed:
            ending = OUT_OF_TURN
        stdout, stderr = guest.take_output()
        if self._closing:
            raise SandboxError("the notebook was closed meanwhile")
        if ending is not None:
            self._end()
        return Cell(
            stdout=stdout,
            stderr=stderr,
            shown=said.shown,
            raised=said.raised,
            ending=ending or (TimedOut("wall") if guest.interrupted else None),
            truncated=guest.truncated,
            seconds=guest.clock.passed - before,
        )

    def look(self) -> ProcessLoad | None:
        """Return what it uses."""
        return self._box.look()

    def write(self, path: str, content: bytes) -> None:
        """Put a file into its folder."""
        with self._lock, os.fdopen(self._open(path, write=True), "wb") as file:
            file.write(content)

    def read(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return a file of its folder, or so much of it."""
        with self._lock, os.fdopen(self._open(path, write=False), "rb") as file:
            return file.read(max_bytes)

    def _open(self, path: str, *, write: bool) -> int:
        if not self.alive:
            raise SandboxError("the notebook has ended")
        answer = self._guest.order(do="open", path=path, write=write)
        if not answer.fds:
            raise SandboxError(f"{path}: {answer.header.get('refused', 'no answer')}")
        return answer.fds[0]

    def close(self) -> None:
        """End it and the cell that it runs, and leave nothing of it."""
        self._closing = True
        self._box.hang_up()
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self.alive:
            self.alive = False
            try:
                self._guest.finish()
            finally:
                self._box.close()


def _read(frame: Frame, number: int) -> _Said:
    """Make sense of what a guest says of a cell."""
    if frame.kind != frames.RAN or frame.number != number or len(frame.payload) > MAX_TEXT:
        raise Malformed("not an answer to what was asked")
    message: Any = frames.parse(frame.payload)
    try:
        said = msgspec.convert(message, _Said)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from None
    if len(said.shown) > MAX_DISPLAYS:
        raise Malformed(f"more than {MAX_DISPLAYS} things shown")
    return said
