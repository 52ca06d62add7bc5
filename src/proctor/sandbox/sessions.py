"""Boxes that are used more than once: for many runs of one program, or for a session."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from proctor.build import Outcome, Refused
from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import MIB, Execution, Exited, Limits, Room
from proctor.sandbox.box import parcel
from proctor.sandbox.drop import check

if TYPE_CHECKING:
    from proctor.sandbox.foreign import Foreign
    from proctor.toolchain import Toolchain

MAX_CODE = 64 * MIB
MAX_FED = 4096
"""Standard input that every pipe holds at once, so that nobody has to feed it."""
PYTHON, MAIN = "python", "main.py"


def not_here(where: str, language: str) -> SandboxError:
    """Say that a language needs another tier."""
    return SandboxError(f"the {where} runs Python only; {language} needs --sandbox kernel")


def run_in(
    box: Room,
    program: Program,
    limits: Limits,
    stdin: bytes,
    *,
    code: bytes = b"",
    wipe: bool = False,
) -> Execution:
    """Run a program in a box and wait for its end; `code` if it was compiled before."""
    if program.language != PYTHON:
        raise not_here("session or tier", program.language)
    if len(stdin) <= MAX_FED:
        own = parcel(program, code, stdin)
        answers, execution = box.exchange(own, limits, "program", wipe=wipe)
        return msgspec.structs.replace(execution, compiled=b"C" in answers)
    if wipe:
        box.wipe()
    guest = box.start("program", limits, program=program, code=code, stdin=stdin)
    guest.wait()
    return guest.finish()


def compile_in(box: Room, program: Program, limits: Limits) -> Execution:
    """Compile a program in a guest of its own; its standard output is the code."""
    if program.language != PYTHON:
        raise not_here("session or tier", program.language)
    bounds = msgspec.structs.replace(limits, output_bytes=MAX_CODE)
    guest = box.start("compile", bounds, program=program)
    guest.wait()
    return guest.finish()


class BoxRuns:
    """One program, compiled once, run again and again, each time as if for the first."""

    def __init__(
        self, box: Room, program: Program, limits: Limits, times: int, finally_: Callable[[], None]
    ) -> None:
        """Take a box for so many runs; for a single one it is not worth compiling apart."""
        self._box = box
        self._program = program
        self._limits = limits
        self._finally = finally_
        self._compile = times > 1
        self._compiled: Execution | None = None

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once, in an empty scratch folder."""
        check()
        if self._compile and self._compiled is None:
            self._compiled = compile_in(self._box, self._program, self._limits)
        if self._compiled is not None and self._compiled.ending != Exited(0):
            return self._compiled
        limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
        code = b"" if self._compiled is None else self._compiled.stdout
        return run_in(self._box, self._program, limits, stdin, code=code, wipe=True)

    def close(self) -> None:
        """Give the box back."""
        self._finally()


class ForeignRuns:
    """One program of another language, compiled once, run again and again."""

    def __init__(
        self, foreign: "Foreign", toolchain: "Toolchain", program: Program, limits: Limits
    ) -> None:
        self._foreign = foreign
        self._toolchain = toolchain
        self._program = program
        self._limits = limits
        self._outcome: Outcome | None = None

    def run(self, stdin: bytes, output_bytes: int | None = None) -> Execution:
        """Run it once, in an empty scratch folder."""
        if self._outcome is None:
            self._outcome = self._foreign.build(self._program, self._toolchain)
        if isinstance(self._outcome, Refused):
            return self._outcome.execution
        limits = self._limits
        if output_bytes is not None:
            limits = msgspec.structs.replace(limits, output_bytes=output_bytes)
        files = self._outcome.files
        return self._foreign.run(self._toolchain, self._program, limits, stdin, files)

    def close(self) -> None:
        """Nothing is held between runs."""


class BoxSession:
    """A box that lives: files stay until it is closed or idles too long."""

    def __init__(self, box: Room, limits: Limits, idle_seconds: float) -> None:
        self._box = box
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._closed = False
        self._timer = self._wind_up()

    def exec(self, program: Program, stdin: bytes = b"") -> Execution:
        """Run one program in the session's scratch folder."""
        with self._lock:
            self._timer.cancel()
            try:
                return run_in(self._box, program, self._limits, stdin)
            finally:
                if not self._closed:
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
        self._box.hang_up()
        self._shut()

    def _shut(self) -> None:
        with self._lock:
            self._closed = True
            self._timer.cancel()
            self._box.close()

    def _wind_up(self) -> threading.Timer:
        timer = threading.Timer(self._idle_seconds, self._shut)
        timer.daemon = True
        timer.start()
        return timer
