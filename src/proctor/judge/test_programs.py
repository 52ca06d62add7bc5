"""Tests that are programs: the candidate and test code with a `main` of its own, in one file.

They share a process, which receipts call `together`. A pass needs the word that every test
function says at its end (see `instrument_tests.py`), not an exit status alone.
"""

import hmac
import re
import secrets

import msgspec

from proctor.judge import repository_tests
from proctor.judge.conversation import CandidateEnded, Findings
from proctor.judge.instrument_tests import Tokens, instrument, parse_report
from proctor.judge.live_tests import UnfitError
from proctor.judge.stdin import program_failure
from proctor.languages import get_language
from proctor.languages.language import Harness, Language
from proctor.records.execution import Execution, Exited
from proctor.records.program import Program
from proctor.records.task import Task, TestProgram
from proctor.records.verdict import Bucket, TestResult
from proctor.sandbox import Sandbox


def run_tests(sandbox: Sandbox, task: Task, tests: TestProgram, program: Program) -> Findings:
    """Build a candidate and its tests as one program, run it, and hear how that went."""
    language = get_language(task.language)
    harness = language.harness
    if harness is None:
        raise UnfitError(f"there is no way to run test programs in {task.language}")
    tokens = _tokens(task, program)
    apart = task.context is not None  # the candidate is a unit of its own
    front = "" if apart else _front(harness, tests, program.source)
    line = front.count("\n") + 1
    instrumented = instrument(tests.code, harness, language.lexer, tokens, line)
    if instrumented is None:
        raise UnfitError("there is no test function in the test code")
    if task.context is not None:
        ran = repository_tests.run(sandbox, task.context, program, instrumented.code, task.limits)
        if isinstance(ran, CandidateEnded):
            return Findings(tests=[ran.result(0)], clock=sandbox.enforcement().clock)
        return _findings(sandbox, task, ran, tokens, instrumented.functions)
    trick = re.search(harness.forbidden, program.source) if harness.forbidden else None
    if trick is not None:
        gone = CandidateEnded(Bucket.TAMPERING, f"it replaces what tests are made of: {trick[0]}")
        return Findings(tests=[gone.result(0)], clock=sandbox.enforcement().clock)
    whole = msgspec.structs.replace(
        program,
        source=front + instrumented.code,
        tests=bool(harness.own_tests and re.search(harness.own_tests, tests.code)),
    )
    runs = sandbox.repeat(whole, task.limits, times=1)
    try:
        execution = runs.run(b"", task.limits.output_bytes)
    finally:
        runs.close()
    return _findings(sandbox, task, execution, tokens, instrumented.functions)


def _findings(
    sandbox: Sandbox, task: Task, execution: Execution, tokens: Tokens, functions: int
) -> Findings:
    """Make sense of how a program with tests in it went."""
    end = _end(execution, get_language(task.language), tokens, functions)
    seconds = round(execution.usage.wall_seconds, 6)
    if end is None:
        test = TestResult(index=0, passed=True, seconds=seconds)
    else:
        test = msgspec.structs.replace(end.result(0), seconds=seconds)
    shown = _without(execution, tokens)
    notes = frozenset(["not_linked"] if task.context and not execution.compiled else [])
    clock = sandbox.enforcement().clock
    return Findings(tests=[test], executions=[shown], clock=clock, notes=notes)


SECRET = secrets.token_bytes(32)
"""Nobody has it but this process: the tokens of a sample follow from it and from its text.

So they are fixed after the text is, and the same program need not be compiled again.
"""


def _tokens(task: Task, program: Program) -> Tokens:
    text = f"{task.sha256} {program.sha256}".encode()
    digest = hmac.digest(SECRET, text, "sha256").hex()
    return Tokens(yes=f"yes{digest[:32]}", no=f"no{digest[32:]}")


def _front(harness: Harness, tests: TestProgram, source: str) -> str:
    """Return what stands in front of the tests: their setup, and the candidate."""
    setup = tests.setup
    if harness.front is not None and setup.strip():
        return harness.front(setup, source, tests.code)
    text = f"{setup.rstrip()}\n{source}" if setup.strip() else source
    return text if text.endswith("\n") else f"{text}\n"


def _end(
    execution: Execution, language: Language, tokens: Tokens, functions: int
) -> CandidateEnded | None:
    """Say what an execution means; None: all tests passed."""
    end = program_failure(execution, language.name)
    if not execution.compiled:
        return end
    said = (execution.stdout + b"\n" + execution.stderr).decode("utf-8", "replace")
    reported = [*parse_report(said, tokens)]
    if reported:
        kind, _, detail = reported[0].partition(" ")
        wrong = kind == "wrong"
        bucket = Bucket.WRONG_ANSWER if wrong else Bucket.TEST_EXCEPTION
        return CandidateEnded(bucket, detail or "a test failed")
    finished = said.splitlines().count(tokens.yes)
    if end is None and finished == functions:
        return None
    match execution.ending:
        case Exited(code) if end is None or end.bucket is Bucket.TEST_EXCEPTION:
            if end is not None and code == language.raised and finished < functions:
                return end
            return CandidateEnded(
                Bucket.EARLY_EXIT, f"left with exit status {code} before the tests ended"
            )
    return end


def _without(execution: Execution, tokens: Tokens) -> Execution:
    """Return an execution without what only the tests say."""

    def plain(stream: bytes) -> bytes:
        secret = (tokens.yes.encode(), tokens.no.encode())
        if not any(word in stream for word in secret):
            return stream
        lines = stream.split(b"\n")
        return b"\n".join(line for line in lines if not any(word in line for word in secret))

    return msgspec.structs.replace(
        execution, stdout=plain(execution.stdout), stderr=plain(execution.stderr)
    )
