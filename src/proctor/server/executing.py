"""From a request to execute to what happened."""

import asyncio
import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.languages import named
from proctor.program import Program
from proctor.sandbox import (
    Execution,
    Exited,
    Limits,
    OutputTooLong,
    Sandbox,
    SandboxFailed,
    Signalled,
)
from proctor.server.grading import check_limits
from proctor.server.keys import Caller
from proctor.server.messages import Execute, Executed, LimitsAsked, decode_files
from proctor.server.queue import Late
from proctor.server.service import Service

MAX_PATH = 255


class Errand(NamedTuple):
    """A program and all that it is run with."""

    program: Program
    limits: Limits
    stdin: bytes = b""
    files: Mapping[str, bytes] = {}
    fetch: Sequence[str] = ()


class Left(NamedTuple):
    """What a program left behind."""

    execution: Execution
    files: Mapping[str, bytes]


async def executed(service: Service, caller: Caller, ask: Execute) -> Executed:
    """Run a program in its turn and say what happened; what failed on our side is tried again."""
    program = Program(source=ask.code, language=named(ask.language).name, args=tuple(ask.args))
    if any("\0" in word for word in ask.args):
        raise InputError("args: there is a null character in it")
    limits = _limits(service, ask.limits)
    files = decode_files(ask.files, service.bounds.file_bytes)
    for path in (*files, *ask.fetch_files):
        check_path(path)
    stdin = ask.stdin.encode("utf-8", "surrogatepass")

    errand = Errand(program, limits, stdin, files, ask.fetch_files)
    most = service.bounds.deadline_seconds
    try:
        async with asyncio.timeout(min(ask.deadline_seconds or most, most)):
            left = await service.gate.run(
                lambda: run_twice(service.sandbox, errand),
                key=caller.name,
                same=_identity(ask, program, limits, stdin),
            )
    except TimeoutError:
        raise Late from None
    execution = left.execution
    service.metrics.executed(_word(execution))
    if isinstance(execution.ending, SandboxFailed):
        raise SandboxError(execution.ending.reason)
    return _told(left)


def run_twice(sandbox: Sandbox, errand: Errand) -> Left:
    """Run a program; once more if the sandbox failed, which is no fault of the program."""
    left = _run(sandbox, errand)
    return _run(sandbox, errand) if isinstance(left.execution.ending, SandboxFailed) else left


def _run(sandbox: Sandbox, errand: Errand) -> Left:
    if not errand.files and not errand.fetch:
        return Left(sandbox.run(errand.program, errand.limits, errand.stdin), {})
    try:
        session = sandbox.session(errand.limits)
    except SandboxError as error:
        return Left(Execution(ending=SandboxFailed(str(error))), {})
    found = {}
    try:
        for path, content in errand.files.items():
            session.write(path, content)
        execution = session.exec(errand.program, errand.stdin)
        for path in errand.fetch:
            try:
                found[path] = session.read(path)
            except SandboxError:
                continue  # it is not there
    finally:
        session.close()
    return Left(execution, found)


def check_path(path: str) -> None:
    """Refuse paths that lead out of a program's folder."""
    parts = path.split("/")
    if not path or len(path) > MAX_PATH or "\0" in path or {"", ".", ".."} & set(parts):
        said = f"{path[:80]!r} is no path in the program's folder, as data/input.txt is"
        raise InputError(f"files: {said}")


def _limits(service: Service, asked: LimitsAsked) -> Limits:
    given = {
        name: value for name, value in msgspec.structs.asdict(asked).items() if value is not None
    }
    limits = msgspec.structs.replace(Limits(), **given)
    check_limits(service, limits, "limits.cpu_seconds, limits.wall_seconds", "limits.memory_bytes")
    return limits


def _identity(ask: Execute, program: Program, limits: Limits, stdin: bytes) -> tuple[object, ...]:
    """Return what tells apart requests that are not the same."""
    digest = hashlib.sha256(stdin)
    for path, text in sorted(ask.files.items()):
        for part in (path, text):
            encoded = part.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return "execute", program.sha256, limits, len(stdin), digest.digest(), tuple(ask.fetch_files)


def _word(execution: Execution) -> str:
    return str(type(execution.ending).__struct_config__.tag)


def _told(left: Left) -> Executed:
    execution = left.execution
    ending = execution.ending
    return Executed(
        ending=ending,
        exit_code=ending.code if isinstance(ending, Exited) else None,
        signal=ending.signal if isinstance(ending, Signalled) else None,
        stdout=execution.stdout.decode("utf-8", "replace"),
        stderr=execution.stderr.decode("utf-8", "replace"),
        truncated=isinstance(ending, OutputTooLong),
        compiled=execution.compiled,
        files={path: base64.b64encode(content).decode() for path, content in left.files.items()},
        usage=execution.usage,
    )
