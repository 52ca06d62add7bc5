"""Run one program as `/api/v2/execute` asks for it."""

from http import HTTPStatus

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.languages import get_language
from proctor.languages.compiler import LIMITS
from proctor.languages.toolchain import find_toolchain
from proctor.records.execution import Execution, SandboxFailed
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.job import Job, is_inside
from proctor.server.compat.piston.answers import Ran, stage
from proctor.server.compat.piston.requests import Execute, File, Wrong
from proctor.server.compat.piston.runtimes import Runtime
from proctor.server.execute import run_job
from proctor.server.service import Service

MAX_OUTPUT = MIB
"""Of each stream; a program that writes more is killed."""
RUNNING = Limits(memory_bytes=4 * GIB, output_bytes=MAX_OUTPUT, processes=256, open_files=1024)
"""Limits of a program if the request names none."""


def run(service: Service, runtime: Runtime, asked: Execute) -> Ran:
    """Run a program and answer as Piston answers."""
    program = asked.program
    others = [file for file in asked.files if file is not program]
    job = Job(
        program=Program(
            source=program.content.decode(),
            language=runtime.program,
            args=tuple(asked.args),
        ),
        limits=asked.stage("run", RUNNING, service.max_memory_bytes),
        building=asked.stage("compile", LIMITS, service.max_memory_bytes),
        stdin=asked.stdin.encode("utf-8", "replace"),
        files=other_files(service, runtime, program, others),
    )
    execution = carried_out(service, job)
    last = stage(execution, MAX_OUTPUT)
    ran = Ran(run=last, language=runtime.name.language, version=runtime.version)
    if not runtime.compiles:
        return ran
    build = execution.build
    first = last if build is None else stage(build, LIMITS.output_bytes)
    return msgspec.structs.replace(ran, compile=first)


def carried_out(service: Service, job: Job) -> Execution:
    """Run a job; raise SandboxError if the sandbox failed."""
    execution = run_job(service.sandbox, job)
    service.metrics.executed(str(type(execution.ending).__struct_config__.tag))
    service.note(failed=isinstance(execution.ending, SandboxFailed))
    if isinstance(execution.ending, SandboxFailed):
        raise SandboxError(execution.ending.reason)
    return execution


def other_files(
    service: Service, runtime: Runtime, program: File, others: list[File]
) -> dict[str, bytes]:
    """Return the other files; a path out of the folder gets an empty 500, as in Piston."""
    bounds = service.bounds
    if len(others) > bounds.files:
        raise Wrong(f"files may be at most {bounds.files + 1}")
    if sum(len(file.content) for file in others) > bounds.file_bytes:
        raise Wrong(f"files may have at most {bounds.file_bytes} bytes in all")
    taken = _taken(runtime, program)
    files: dict[str, bytes] = {}
    for file in others:
        try:
            path = is_inside(file.name)
        except InputError:
            raise Wrong(status=HTTPStatus.INTERNAL_SERVER_ERROR) from None
        if path in taken:
            raise Wrong(f"{path} is what the program itself is called; send it first")
        files[path] = file.content
    return files


def _taken(runtime: Runtime, program: File) -> set[str]:
    """Return the names of the program's own files."""
    language = get_language(runtime.program)
    main = language.main
    if language.named_by:
        main = find_toolchain(language.name).name_for(program.content.decode())
    return {main + language.suffix, *language.products}
