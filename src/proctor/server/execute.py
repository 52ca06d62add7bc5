"""Handle requests to execute a program."""

import asyncio
import base64
import hashlib

import msgspec

from proctor.client.schema import Execute, Executed, LimitsAsked, decode_files
from proctor.errors import InputError, SandboxError
from proctor.languages import get_language
from proctor.records.execution import Execution, Exited, OutputTooLong, SandboxFailed, Signalled
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job
from proctor.server.grade import check_limits
from proctor.server.keys import Caller
from proctor.server.queue import QueueTimeout
from proctor.server.service import Service


async def execution_body(service: Service, caller: Caller, ask: Execute) -> Executed:
    """Run a program in its turn; retry once if the sandbox failed."""
    job = _job(service, ask)
    max_seconds = service.bounds.deadline_seconds
    try:
        async with asyncio.timeout(min(ask.deadline_seconds or max_seconds, max_seconds)):
            execution = await service.gate.run(
                lambda: run_job(service.sandbox, job),
                key=caller.name,
                same=("execute", identity(job)),
            )
    except TimeoutError:
        raise QueueTimeout from None
    ending = execution.ending
    service.metrics.executed(str(type(ending).__struct_config__.tag))
    service.note(failed=isinstance(ending, SandboxFailed))
    if isinstance(ending, SandboxFailed):
        raise SandboxError(ending.reason)
    return _told(execution)


def run_job(sandbox: Sandbox, job: Job) -> Execution:
    """Run a program; retry once if the sandbox failed."""
    try:
        sandbox.require_language(job.program.language)
    except SandboxError as error:
        raise InputError(f"language: {error}") from None
    execution = sandbox.run_job(job)
    failed = isinstance(execution.ending, SandboxFailed)
    return sandbox.run_job(job) if failed else execution


def identity(job: Job) -> bytes:
    """Return a value that is equal for equal jobs only."""
    digest = hashlib.sha256(f"{job.program.sha256} {job.limits} {job.building}".encode())
    parts = [job.stdin, b"files", *(part for pair in sorted(job.files.items()) for part in pair)]
    for part in (*parts, b"fetch", *job.fetch, str(job.fetch_bytes)):
        text = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(text).to_bytes(8, "big"))
        digest.update(text)
    return digest.digest()


def _job(service: Service, ask: Execute) -> Job:
    if any("\0" in word for word in ask.args):
        raise InputError("args: there is a null character in it")
    limits = requested_limits(service, ask.limits, Limits())
    return Job(
        program=Program(
            source=ask.code, language=get_language(ask.language).name, args=tuple(ask.args)
        ),
        limits=limits,
        stdin=ask.stdin.encode("utf-8", "surrogatepass"),
        files=decode_files(ask.files, service.bounds.file_bytes),
        fetch=ask.fetch_files,
        fetch_bytes=service.bounds.file_bytes,
    )


def requested_limits(service: Service, asked: LimitsAsked, usual: Limits) -> Limits:
    """Return limits with those that a request asks for, within the bounds of this service."""
    given = {
        name: value for name, value in msgspec.structs.asdict(asked).items() if value is not None
    }
    limits = msgspec.structs.replace(usual, **given)
    check_limits(service, limits, "limits.cpu_seconds, limits.wall_seconds", "limits.memory_bytes")
    return limits


def _told(execution: Execution) -> Executed:
    ending = execution.ending
    files = execution.files.items()
    return Executed(
        ending=ending,
        exit_code=ending.code if isinstance(ending, Exited) else None,
        signal=ending.signal if isinstance(ending, Signalled) else None,
        stdout=execution.stdout.decode("utf-8", "replace"),
        stderr=execution.stderr.decode("utf-8", "replace"),
        truncated=isinstance(ending, OutputTooLong),
        compiled=execution.compiled,
        files={path: base64.b64encode(content).decode() for path, content in files},
        missing=execution.left,
        usage=execution.usage,
    )
