"""Run one program as `/run_code` asks for it."""

import os
from base64 import b64decode
from collections.abc import Mapping
from functools import cache

import msgspec

from proctor.errors import InputError
from proctor.languages import all_languages
from proctor.languages.compiler import LIMITS
from proctor.languages.language import Language
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.job import Job, is_inside
from proctor.server.compat.sandboxfusion.answers import MAX_OUTPUT, TOO_LATE, Ran, failed_here, ran
from proctor.server.compat.sandboxfusion.requests import RunCode
from proctor.server.execute import run_job
from proctor.server.service import Service, ServiceLimits

PROCESSORS = os.cpu_count() or 1
UNLIMITED_BYTES = 4 * GIB
"""Limits of a program if the request names none."""
PROCESSES = 256
MOMENT = 0.001
OUTSIDE = "it is not a path inside the working folder"


@cache
def runnable() -> Mapping[str, Language]:
    """Return the languages that run here by their names there; built-in ones come first."""
    found: dict[str, Language] = {}
    for language in all_languages().values():
        if names := language.sandboxfusion:
            found = {**dict.fromkeys(filter(None, (names.name, names.tests)), language), **found}
    return found


def run(service: Service, request: RunCode) -> Ran:
    """Run a program and answer as SandboxFusion answers."""
    language = runnable().get(request.language)
    if language is None or language.sandboxfusion is None:
        return failed_here(request.code, f"'{request.language}'")
    compiles = language.sandboxfusion.compiles
    if compiles and request.compile_timeout <= 0:
        return Ran(status="Failed", compile_result=TOO_LATE)
    if not compiles and request.run_timeout <= 0:
        return Ran(status="Failed", run_result=TOO_LATE)
    try:
        job, outside = job_of(request, language, service.bounds, service.max_memory_bytes)
        execution = run_job(service.sandbox, job)
    except (InputError, ValueError) as error:
        return failed_here(request.code, error)
    service.metrics.executed(str(type(execution.ending).__struct_config__.tag))
    if outside:
        left = {**execution.left, **outside}
        execution = msgspec.structs.replace(execution, left=left)
    return ran(execution, compiles=compiles, late=request.run_timeout <= 0)


def job_of(
    request: RunCode, language: Language, bounds: ServiceLimits, max_memory_bytes: int
) -> tuple[Job, dict[str, str]]:
    """Return what to run, and the paths that cannot be fetched, with the reason.

    A ValueError says what is wrong with the content of a file, an InputError with its path.
    """
    if max(len(request.files), len(request.fetch_files)) > bounds.files:
        raise InputError(f"more than {bounds.files} files")
    wanted: list[str] = []
    outside: dict[str, str] = {}
    for path in request.fetch_files:
        try:
            is_inside(path)
            wanted.append(path)
        except InputError:
            outside[path] = OUTSIDE
    files = {path: b64decode(text) for path, text in request.files.items() if text is not None}
    if sum(map(len, files.values())) > bounds.file_bytes:
        raise InputError(f"more than {bounds.file_bytes} bytes of files")
    job = Job(
        program=Program(
            source=request.code,
            language=language.name,
            tests=language.sandboxfusion is not None
            and request.language == language.sandboxfusion.tests,
        ),
        limits=limits_of(request, max_memory_bytes),
        building=_with_wall(LIMITS, request.compile_timeout),
        stdin=(request.stdin or "").encode(),
        files=files,
        fetch=list(dict.fromkeys(wanted)),
        fetch_bytes=bounds.file_bytes,
    )
    return job, outside


def limits_of(request: RunCode, max_memory_bytes: int) -> Limits:
    """Return the limits that a request asks for: wall time only, as there."""
    asked = request.memory_limit_mb * MIB if request.memory_limit_mb > 0 else UNLIMITED_BYTES
    limits = Limits(
        memory_bytes=min(asked, max_memory_bytes),
        output_bytes=MAX_OUTPUT,
        processes=PROCESSES,
        open_files=1024,
    )
    return _with_wall(limits, request.run_timeout)


def _with_wall(limits: Limits, seconds: float) -> Limits:
    """Return limits that let a program use all processors until its time is over."""
    wall = max(seconds, MOMENT)
    return msgspec.structs.replace(limits, wall_seconds=wall, cpu_seconds=wall * PROCESSORS)
