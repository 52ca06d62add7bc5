"""Responses in the format of Piston: its stages as records."""

import signal
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
    Usage,
)

Status = Literal["RE", "SG", "TO", "XX", "OL", "EL"]
KILL = signal.SIGKILL.name


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """How a compiler or a program ended."""

    signal: str | None = None
    stdout: str = ""
    stderr: str = ""
    code: int | None = None
    """Null if it was ended."""
    output: str = ""
    """Standard output, and behind it standard error."""
    memory: int | None = None
    message: str | None = None
    status: Status | None = None
    cpu_time: int = 0
    """In milliseconds."""
    wall_time: int = 0


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/api/v2/execute`."""

    compile: Stage | UnsetType = UNSET
    """Left out for languages that have no compiler."""
    run: Stage
    """As `compile`, if that failed."""
    language: str
    version: str


def stage(execution: Execution, output_bytes: int) -> Stage:
    """Return the stage of an execution; `output_bytes` was the limit of each stream."""
    stdout, stderr = (
        data.decode("utf-8", "replace") for data in (execution.stdout, execution.stderr)
    )
    code, ended, status, message = _ended(execution, output_bytes)
    return make_stage(
        execution.usage, stdout, stderr, code, signal=ended, status=status, message=message
    )


def make_stage(
    usage: Usage,
    stdout: str,
    stderr: str,
    code: int | None,
    *,
    signal: str | None = None,
    status: Status | None = None,
    message: str | None = None,
) -> Stage:
    """Return a stage; derive the fields that follow from the arguments."""
    return Stage(
        signal=signal,
        stdout=stdout,
        stderr=stderr,
        code=code,
        output=stdout + stderr,
        memory=usage.memory_bytes,
        message=message,
        status=status,
        cpu_time=round(1000 * usage.cpu_seconds),
        wall_time=round(1000 * usage.wall_seconds),
    )


def _ended(
    execution: Execution, output_bytes: int
) -> tuple[int | None, str | None, Status | None, str | None]:
    """Return exit code, signal, status and message."""
    match execution.ending:
        case Exited(0):
            return 0, None, None, None
        case Exited(code):
            return code, None, "RE", f"Exited with error status {code}"
        case Signalled(number):
            return None, _name(number), "SG", f"Caught fatal signal {number}"
        case TimedOut("cpu"):
            return None, KILL, "TO", "Time limit exceeded"
        case TimedOut():
            return None, KILL, "TO", "Time limit exceeded (wall clock)"
        case OutOfMemory():
            return None, KILL, "SG", "Caught fatal signal 9"
        case OutputTooLong():
            which = "stdout" if len(execution.stdout) >= output_bytes else "stderr"
            return None, KILL, "OL" if which == "stdout" else "EL", f"{which} length exceeded"
        case Denied(what):
            return None, KILL, "SG", f"Ended because it tried {what}"
        case SandboxFailed(reason):
            return None, None, "XX", reason


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"SIG{number}"
