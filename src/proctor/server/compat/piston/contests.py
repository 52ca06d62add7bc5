"""Judge a submission to a contest as open-r1's package for Codeforces does, but apart from it.

Its clients send the submission together with `input.txt`, `correct_output.txt`, `grader_config`
(`TIME_LIMIT` in seconds, `MEMORY_LIMIT` in megabytes, `INPUT_MODE` stdio or file) and perhaps a
`checker.py`, and read `1` or `0` from standard output. There, all of these lie in the
submission's folder. Here, the submission sees only its input; its output is compared after it has
ended, and a checker runs in a separate folder.
"""

import os
import re
from collections.abc import Mapping

import msgspec

from proctor.languages.compiler import LIMITS
from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Signalled,
    TimedOut,
    Usage,
)
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.job import Job
from proctor.server.compat.piston.answers import Ran, Stage, make_stage, stage
from proctor.server.compat.piston.requests import Execute, Wrong
from proctor.server.compat.piston.running import RUNNING, carried_out
from proctor.server.compat.piston.runtimes import Runtime
from proctor.server.service import Service

INPUT, EXPECTED, CHECKER, CONFIG = "input.txt", "correct_output.txt", "checker.py", "grader_config"
OUTPUT = "output.txt"
PROCESSORS = os.cpu_count() or 1
MAX_OUTPUT = 64 * MIB
CHECKING = Limits(output_bytes=MIB, file_bytes=MAX_OUTPUT).with_seconds(10.0)
TIME, MEMORY, LENGTH, FORBIDDEN = 124, 134, 153, 159
"""Exit codes of its bash script for time limit, memory limit, output limit and SIGSYS."""
SIGNALS = 128
SKIPPED = make_stage(Usage(), "", "", 0)
"""The compile stage of interpreted languages: clients read its code."""
_ANSWERS = re.compile(rb"\b(?:yes|no)\b", re.IGNORECASE)


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """One test of a contest."""

    given: bytes
    expected: bytes | None
    checker: str | None
    by_file: bool
    """Whether it reads and writes files rather than the standard streams."""
    seconds: float | None
    memory_bytes: int | None


def contest_of(asked: Execute) -> Contest | None:
    """Return the test that came with a submission; None if there is none."""
    files = {file.name: file.content for file in asked.files if file is not asked.program}
    if files.keys().isdisjoint({INPUT, EXPECTED, CONFIG}):
        return None
    config = _config(files.get(CONFIG, b"").decode("utf-8", "replace"))
    checker = files.get(CHECKER)
    megabytes = _number(config, "MEMORY_LIMIT")
    return Contest(
        given=files.get(INPUT, b"").replace(b"\r\n", b"\n"),
        expected=files.get(EXPECTED),
        checker=None if checker is None else checker.decode("utf-8", "replace"),
        by_file=config.get("INPUT_MODE") == "file",
        seconds=_number(config, "TIME_LIMIT"),
        memory_bytes=None if megabytes is None else int(megabytes * MIB),
    )


def judge(service: Service, runtime: Runtime, asked: Execute, contest: Contest) -> Ran:
    """Run a submission on its input and judge its output."""
    job = Job(
        program=Program(source=asked.program.content.decode(), language=runtime.program),
        limits=_limits(asked, contest, service.max_memory_bytes),
        building=asked.stage("compile", LIMITS, service.max_memory_bytes),
        stdin=b"" if contest.by_file else contest.given,
        files={INPUT: contest.given} if contest.by_file else {},
        fetch=(OUTPUT,) if contest.by_file else (),
        fetch_bytes=MAX_OUTPUT,
    )
    execution = carried_out(service, job)
    compiled = stage(execution.build, LIMITS.output_bytes) if execution.build else SKIPPED
    if runtime.compiles and not execution.compiled:
        last = compiled = stage(execution, LIMITS.output_bytes)
    else:
        last = _judged(service, contest, execution)
    language, version = runtime.name.language, runtime.version
    return Ran(compile=compiled, run=last, language=language, version=version)


def _limits(asked: Execute, contest: Contest, max_memory_bytes: int) -> Limits:
    """Return the limits of the contest: wall time only, as there."""
    limits = asked.stage("run", RUNNING, max_memory_bytes)
    wall = min(contest.seconds or limits.wall_seconds, limits.wall_seconds)
    return msgspec.structs.replace(
        limits,
        wall_seconds=wall,
        cpu_seconds=wall * PROCESSORS,
        memory_bytes=min(contest.memory_bytes or limits.memory_bytes, limits.memory_bytes),
        output_bytes=MAX_OUTPUT,
        file_bytes=MAX_OUTPUT,
    )


def _judged(service: Service, contest: Contest, execution: Execution) -> Stage:
    code, why = _failure(execution)
    usage = execution.usage
    if code:
        return _verdict(usage, right=False, why=why, code=code)
    written = execution.files.get(OUTPUT, b"") if contest.by_file else execution.stdout
    lines = [line for line in written.split(b"\n") if line]
    output = b"".join(line + b"\n" for line in lines)
    if contest.expected is None:
        return make_stage(usage, output.decode("utf-8", "replace"), "", 0)
    if contest.checker is not None:
        return _checked(service, contest, output, usage)
    right = _tokens(output) == _tokens(contest.expected)
    return _verdict(usage, right=right, why=f"Output {_is(right)} correct (diff)\n")


def _failure(execution: Execution) -> tuple[int, str]:
    """Return the exit code and the message of a submission that failed."""
    match execution.ending:
        case Exited(0):
            return 0, ""
        case Exited(code):
            return code, f"{_tail(execution)}Runtime error with exit code {code}\n"
        case Signalled(number):
            code = SIGNALS + number
            return code, f"{_tail(execution)}Runtime error with exit code {code}\n"
        case TimedOut():
            return TIME, "Time limit exceeded\n"
        case OutOfMemory():
            return MEMORY, "Memory limit exceeded\n"
        case OutputTooLong():
            return LENGTH, "Output limit exceeded\n"
        case Denied(what):
            return FORBIDDEN, f"Ended because it tried {what}\n"
    raise AssertionError(execution.ending)  # carried_out raises if the sandbox failed


def _tail(execution: Execution) -> str:
    return execution.stderr[-4096:].decode("utf-8", "replace")


def _checked(service: Service, contest: Contest, output: bytes, usage: Usage) -> Stage:
    """Run the checker on the output."""
    expected = contest.expected or b""
    job = Job(
        program=Program(source=contest.checker or "", args=(INPUT, EXPECTED, OUTPUT)),
        limits=CHECKING,
        files={
            INPUT: contest.given,
            EXPECTED: expected.replace(b"\r\n", b"\n"),
            OUTPUT: output,
        },
    )
    checked = carried_out(service, job)
    right = b"".join(checked.stdout.split()) in {b"1", b"100"}
    code, why = _failure(checked)
    said = f"{why}Output {_is(right)} correct (checker)\n"
    return _verdict(usage, right=right, why=said, code=code)


def _verdict(usage: Usage, *, right: bool, why: str, code: int = 0) -> Stage:
    return make_stage(
        usage,
        "1\n" if right else "0\n",
        why,
        code,
        status="RE" if code else None,
        message=f"Exited with error status {code}" if code else None,
    )


def _is(right: bool) -> str:  # noqa: FBT001
    return "is" if right else "isn't"


def _tokens(text: bytes) -> list[bytes]:
    """Split output into tokens; the case of yes and no is ignored."""
    return _ANSWERS.sub(lambda found: found[0].upper(), text).split()


def _config(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}


def _number(config: Mapping[str, str], name: str) -> float | None:
    """Read a positive number; None for the text `None`, which clients send."""
    text = config.get(name, "")
    if text in {"", "None", "null"}:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise Wrong(f"{CONFIG}: {name} must be a number above 0")
    return value
