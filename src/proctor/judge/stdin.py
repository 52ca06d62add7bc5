"""Whole programs: text in, text out.

Every case is a fresh process with an empty scratch folder and real pipes on both sides; the
expected output stays with the supervisor.
"""

import msgspec

from proctor.judge.checker import Accept
from proctor.judge.supervisor import Findings, Gone, gone
from proctor.program import Program
from proctor.sandbox import KIB, Execution, Exited, Limits, Sandbox
from proctor.sandbox.inside.examiner import MAX_TEXT
from proctor.task import StdinCases
from proctor.verdict import Bucket, TestResult


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
            if last is not None and last.bucket is Bucket.SYNTAX:
                tests.append(msgspec.structs.replace(last, index=index))
            elif sum(test.seconds or 0 for test in tests) >= task_seconds:
                tests.append(OUT_OF_TIME.result(index))
            else:
                executions.append(runs.run(given.encode(), output_limit(limits, expected)))
                tests.append(judge_case(index, given, expected, executions[-1], accept))
            if early_stop and not tests[-1].passed:
                break
    finally:
        runs.close()
    return Findings(tests=tests, executions=executions, clock=sandbox.enforcement().clock)


OUT_OF_TIME = Gone(Bucket.WALL_TIME, "the time limit of the whole task was reached")


def output_limit(limits: Limits, expected: str) -> int:
    """Return how much a case may print: far more than what is right is no accident."""
    return max(limits.output_bytes, 4 * len(expected.encode()) + 64 * KIB)


def judge_case(
    index: int, given: str, expected: str, execution: Execution, accept: Accept
) -> TestResult:
    """Judge one execution of a program."""
    seconds = round(execution.usage.wall_seconds, 6)
    end = _failure(execution)
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


def _failure(execution: Execution) -> Gone | None:
    """Say what an ending other than a clean exit means for a program."""
    last = _last_line(execution.stderr)
    match execution.ending:
        case Exited() if not execution.compiled:
            return Gone(Bucket.SYNTAX, last)
        case Exited(0):
            return None
        case Exited(code):
            if last == "MemoryError" or last.startswith("MemoryError:"):
                return Gone(Bucket.MEMORY, last)
            return Gone(Bucket.TEST_EXCEPTION, last or f"exit status {code}")
        case other:
            return gone(other)


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:MAX_TEXT] if lines else ""
