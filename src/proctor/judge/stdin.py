"""Whole programs: text in, text out.

Every case is a fresh process with an empty scratch folder and real pipes on both sides; the
expected output stays with the supervisor.
"""

import msgspec

from proctor.judge.checker import Accept
from proctor.judge.conversation import CandidateEnded, Findings, ended_by
from proctor.languages import get_language
from proctor.languages.compiler import bucket_of
from proctor.languages.language import Language
from proctor.records.execution import Execution, Exited, Signalled
from proctor.records.limits import KIB, Limits
from proctor.records.program import Program
from proctor.records.task import StdinCases
from proctor.records.verdict import OUTCOMES, Bucket, Outcome, TestResult
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.roles.examiner import MAX_TEXT


def run_cases(
    sandbox: Sandbox,
    program: Program,
    cases: StdinCases,
    limits: Limits,
    accept: Accept,
    *,
    early_stop: bool,
    task_seconds: float,
) -> Findings:
    """Run every case, or up to the first that fails if early stop is asked for."""
    tests: list[TestResult] = []
    executions: list[Execution] = []
    runs = sandbox.repeat(program, limits, times=len(cases.inputs))
    try:
        for index, (given, expected) in enumerate(zip(cases.inputs, cases.outputs, strict=True)):
            last = tests[-1] if tests else None
            if last is not None and last.bucket in NOT_COMPILED:
                tests.append(msgspec.structs.replace(last, index=index))
            elif sum(test.seconds or 0 for test in tests) >= task_seconds:
                tests.append(OUT_OF_TIME.result(index))
            else:
                executions.append(runs.run(given.encode(), output_limit(limits, expected)))
                end = program_failure(executions[-1], program.language)
                case = judge_case(index, given, expected, executions[-1], accept, end=end)
                tests.append(case)
            if early_stop and not tests[-1].passed:
                break
    finally:
        runs.close()
    return Findings(tests=tests, executions=executions, clock=sandbox.enforcement().clock)


NOT_COMPILED = {b for b, outcome in OUTCOMES.items() if outcome is Outcome.SYNTAX_ERROR}
"""What a program failed by will be the same for all cases."""
OUT_OF_TIME = CandidateEnded(Bucket.WALL_TIME, "the time limit of the whole task was reached")


def output_limit(limits: Limits, expected: str) -> int:
    """Return how much a case may print: far more than what is right is no accident."""
    return max(limits.output_bytes, 4 * len(expected.encode()) + 64 * KIB)


def judge_case(
    index: int,
    given: str,
    expected: str,
    execution: Execution,
    accept: Accept,
    *,
    end: CandidateEnded | None,
) -> TestResult:
    """Judge one execution of a program; `end` is what its ending means, if it failed by that."""
    seconds = round(execution.usage.wall_seconds, 6)
    if end is not None:
        return msgspec.structs.replace(end.result(index), seconds=seconds)
    got = execution.stdout.decode("utf-8", "replace")
    complaint = accept(given, expected, got)
    if complaint is None:
        return TestResult(index=index, passed=True, seconds=seconds)
    return TestResult(
        index=index,
        passed=False,
        bucket=Bucket.WRONG_ANSWER,
        detail=complaint,
        expected=expected[:MAX_TEXT],
        got=got[:MAX_TEXT],
        seconds=seconds,
    )


def program_failure(execution: Execution, language: str) -> CandidateEnded | None:
    """Say what an ending other than a clean exit means for a program."""
    if language != "python":
        return _other_language_failure(execution, get_language(language))
    last = _last_line(execution.stderr)
    match execution.ending:
        case Exited() if not execution.compiled:
            return CandidateEnded(Bucket.SYNTAX, last)
        case Exited(0):
            return None
        case Exited(code):
            if last == "MemoryError" or last.startswith("MemoryError:"):
                return CandidateEnded(Bucket.MEMORY, last)
            return CandidateEnded(Bucket.TEST_EXCEPTION, last or f"exit status {code}")
        case other:
            return ended_by(other)


def _other_language_failure(execution: Execution, language: Language) -> CandidateEnded | None:
    said = execution.stderr.decode("utf-8", "replace")
    if not execution.compiled:
        return CandidateEnded(bucket_of(execution), _first_error(said))
    match execution.ending:
        case Exited(0):
            return None
        case Exited() | Signalled() if any(text in said for text in language.out_of_memory):
            return CandidateEnded(Bucket.MEMORY, "the memory limit was reached")
        case Exited(code):
            return CandidateEnded(
                Bucket.TEST_EXCEPTION, _last_line(execution.stderr) or f"exit status {code}"
            )
        case other:
            return ended_by(other)


def _first_error(said: str) -> str:
    """Return the first line in which a compiler speaks of an error, or else its first line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), "".join(lines[:1]))


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:MAX_TEXT] if lines else ""
