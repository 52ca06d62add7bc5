"""Boxes that are used more than once: for many runs of one program, or for a session."""

import threading
from collections.abc import Callable

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.errors import SandboxError
from proctor.records.execution import Execution, Exited
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import program_blob
from proctor.sandbox.supervisor.protocols import BoxProtocol

MAX_CODE = 64 * MIB
MAX_FED = 4096
"""Standard input that every pipe holds at once, so that nobody has to feed it."""
PYTHON, MAIN = "python", "main.py"


def refuse_language(where: str, language: str) -> SandboxError:
    """Say that a language needs another tier."""
    return SandboxError(f"the {where} runs Python only; {language} needs --sandbox kernel")


def run_in_session(
    box: BoxProtocol,
    program: Program,
    limits: Limits,
    stdin: bytes,
    *,
    code: bytes = b"",
    wipe: bool = False,
) -> Execution:
    """Run a program in a box and wait for its end; `code` if it was compiled before."""
    if program.language != PYTHON:
        raise refuse_language("session or tier", program.language)
    if len(stdin) <= MAX_FED:
        own = program_blob(program, code, stdin)
        answers, execution = box.exchange(own, limits, "program", wipe=wipe)
        return msgspec.structs.replace(execution, compiled=b"C" in answers)
    if wipe:
        box.wipe()
    guest = box.start("program", limits, program=program, code=code, stdin=stdin)
    guest.wait()
    return guest.finish()


def compile_in(box: BoxProtocol, program: Program, limits: Limits) -> Execution:
    """Compile a program in a guest of its own; its standard output is the code."""
    if program.language != PYTHON:
        raise refuse_language("session or tier", program.language)
    bounds = msgspec.structs.replace(limits, output_bytes=MAX_CODE)
    guest = box.start("compile", bounds, program=program)
    guest.wait()
    return guest.finish()


class FreshBoxRuns:
    """One program, compiled once, run again and again, each time as if for the first."""

    def __init__(
        self,
        box: BoxProtocol,
        program: Program,
        limits: Limits,
        times: int,
        finally_: Callable[[], None],
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
        raise_if_cancelled()
        if self._compile and self._compiled is None:
            self._compiled = compile_in(self._box, self._program, self._limits)
        if self._compiled is not None and self._compiled.ending != Exited(0):
            return self._compiled
        limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
        code = b"" if self._compiled is None else self._compiled.stdout
        return run_in_session(self._box, self._program, limits, stdin, code=code, wipe=True)

    def close(self) -> None:
        """Give the box back."""
        self._finally()


class BoxSession:
    """A box that lives: files stay until it is closed or idles too long."""

    def __init__(self, box: BoxProtocol, limits: Limits, idle_seconds: float) -> None:
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
                return run_in_session(self._box, program, self._limits, stdin)
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
