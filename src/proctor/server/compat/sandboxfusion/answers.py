"""What clients of SandboxFusion are answered: its responses as records, and how they are made."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.languages.compiler import KEPT_DIAGNOSTICS
from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
)
from proctor.records.limits import MIB
from proctor.sandbox.supervisor.job import NOT_THERE

MAX_OUTPUT = MIB
"""Of each stream; a program that writes more is ended there."""
KILLED = -9

Status = Literal["Success", "Failed", "SandboxError"]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """How a compiler or a program ended."""

    status: Literal["Finished", "Error", "TimeLimitExceeded"]
    execution_time: float | None = None
    return_code: int | None = None
    """Of a signal, its number below zero; null if time ran out."""
    stdout: str | None = ""
    stderr: str | None = ""


TOO_LATE = Command(status="TimeLimitExceeded", execution_time=0.0)
"""What a limit of nothing makes of anything."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/run_code`, with every field that its server sends."""

    status: Status
    message: str = ""
    compile_result: Command | None = None
    run_result: Command | None = None
    executor_pod_name: str | None = None
    files: Mapping[str, str] = {}


class CellRan(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one cell."""

    stdout: str = ""
    stderr: str = ""
    display: Sequence[Mapping[str, str]] = ()
    error: Sequence[Mapping[str, Any]] = ()


class RanJupyter(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/run_jupyter`, with every field that its server sends."""

    status: Status
    message: str = ""
    driver: Command | None = None
    cells: Sequence[CellRan] = ()
    executor_pod_name: str | None = None
    files: Mapping[str, str] = {}


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One problem as a model is shown it."""

    id: int | str
    prompt: str
    labels: Mapping[str, Any] = {}


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one test."""

    passed: bool
    exec_info: Ran
    test_info: Mapping[str, Any] | None = None


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/submit`."""

    id: int | str
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: Sequence[Tested] = ()
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"] | None = None
    extra: Mapping[str, Any] | None = None


def failed_here(code: str, why: object) -> Ran:
    """Say as its server does that nothing could be run."""
    return Ran(status="SandboxError", message=f"exception on running code {code}: {why} None")


def ran(execution: Execution, *, compiles: bool, late: bool = False) -> Ran:
    """Say what became of a program.

    `compiles` says whether its language is one for which compiling is told apart from running;
    `late` that its time was over before it began.
    """
    if isinstance(execution.ending, SandboxFailed):
        return Ran(status="SandboxError", message=execution.ending.reason)
    refused = compiles and not execution.compiled
    build = execution if refused else execution.build
    commands = [
        None if build is None or not compiles else _command(build),
        None if refused else TOO_LATE if late else _command(execution),
    ]
    remarks = [*(_remarks(build) if build and compiles else ()), *_left(execution)]
    remarks += [] if refused or late else _remarks(execution)
    return Ran(
        status=_status(commands),
        message="; ".join(remarks),
        compile_result=commands[0],
        run_result=commands[1],
        files={path: b64encode(data).decode() for path, data in execution.files.items()},
    )


def _status(commands: Sequence[Command | None]) -> Status:
    fine = all(command is None or command.return_code == 0 for command in commands)
    return "Success" if fine else "Failed"


def _command(execution: Execution) -> Command:
    code: int | None
    match execution.ending:
        case TimedOut():
            code = None
        case Exited(number):
            code = number
        case Signalled(number):
            code = -number
        case _:
            code = KILLED
    return Command(
        status="TimeLimitExceeded" if code is None else "Finished",
        execution_time=execution.usage.wall_seconds,
        return_code=code,
        stdout=_text(execution.stdout),
        stderr=_text(execution.stderr),
    )


def _text(data: bytes) -> str:
    """Return output as text; what is not UTF-8 becomes the words that its server has for it."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if len(data) >= MAX_OUTPUT and "unexpected end of data" in error.reason:
            return data[: error.start].decode()  # we cut a character in two ourselves
        return f"[DecodeError] {error}"


def _remarks(execution: Execution) -> list[str]:
    """Say what a return code cannot."""
    match execution.ending:
        case OutOfMemory():
            return ["ended because it ran out of memory"]
        case OutputTooLong():
            return [f"ended because it wrote more than {MAX_OUTPUT} bytes; the first are kept"]
        case Denied(what):
            return [f"ended because it tried {what}"]
        case _ if len(execution.stderr) == KEPT_DIAGNOSTICS:
            return [f"standard error is cut at {KEPT_DIAGNOSTICS} bytes"]
    return []


def _left(execution: Execution) -> list[str]:
    """Say which files could not be fetched though they are there."""
    left = execution.left.items()
    return [f"{path!r} is not fetched: {why}" for path, why in left if why != NOT_THERE]
