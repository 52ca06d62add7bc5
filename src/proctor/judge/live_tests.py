"""Test code in a process of its own, the candidate in another, every message between them ours.

The examiner holds the tests and trusts nobody; the candidate never sees it. The supervisor passes
frames on, checks that each answer belongs to the request that is due, and runs the candidate's
clock only while the candidate owes one.
"""

import ast
import builtins
import secrets
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec

from proctor.extraction.python.syntax import parse as parse_python
from proctor.judge.conversation import (
    Candidate,
    CandidateEnded,
    HarnessError,
    await_load,
    expect_reply,
    protocol_violation,
    refuse_malformed_exception,
)
from proctor.records.execution import Ending, OutputTooLong, TimedOut
from proctor.records.limits import Limits
from proctor.records.task import Assertions, CheckFunction, Task, UnitTests
from proctor.records.verdict import Bucket, TestResult
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, Malformed, parse
from proctor.sandbox.inside.roles.examiner import MAX_TEXT, count_asserts
from proctor.sandbox.inside.roles.unit_tests import declared_tests
from proctor.sandbox.limits.clock import Stopwatch
from proctor.sandbox.supervisor.guest import GuestEnded

EXAMINER_SECONDS = 10.0
Cause = Literal["raised", "wrong", "exit", "denied", "memory"]
BUCKETS: dict[str, Bucket] = {
    "passed": Bucket.PASSED,
    "raised": Bucket.TEST_EXCEPTION,
    "wrong": Bucket.WRONG_ANSWER,
    "exit": Bucket.EARLY_EXIT,
    "denied": Bucket.DENIED,
    "memory": Bucket.MEMORY,
}


class UnfitError(Exception):
    """The task's own tests cannot be run."""


def examination_order(task: Task, *, early_stop: bool) -> dict[str, Any]:
    """Say what an examiner needs to know to examine candidates for a task."""
    entry = task.entry_point or ""
    named = [entry] if entry.isidentifier() else []
    order: dict[str, Any] = {
        "prelude": _prelude(task),
        "setup": task.tests.setup,
        "targets": [],
        "code": "",
        "candidate": "",
        "entry_points": named,
        "declared": 1,
        "unit": False,
        "counterfactual": "",
        "early_stop": early_stop,
        "seed": int(task.sha256[:16], 16),
    }
    match task.tests:
        case Assertions(targets=targets):
            order["targets"] = list(targets)
            order["declared"] = len(targets)
            order["entry_points"] = named or builtin_entry_points(targets)
        case CheckFunction(code=code):
            order["code"] = code
            order["candidate"], order["declared"] = _check(code, entry)
        case UnitTests(code=code):
            tree = parse_python(code)
            order["unit"], order["code"] = True, code
            order["declared"] = 0 if tree is None else len(declared_tests(tree))
    return order


def builtin_entry_points(targets: Sequence[str]) -> list[str]:
    """Return the builtins that assertions mean the candidate's own by.

    Where no assertion names anything but builtins, as in `sum(1, 2) == 3`, they can only be about
    functions of the candidate that have these names.
    """
    names = {
        node.id
        for target in targets
        for node in ast.walk(parse_python(target.strip()) or ast.Module([], []))
        if isinstance(node, ast.Name)
    }
    return sorted(names) if all(hasattr(builtins, name) for name in names) else []


def _prelude(task: Task) -> str:
    """Return what of preamble and prompt is Python: its helpers are the examiner's own copies."""
    texts = (text for text in (task.preamble, task.prompt) if text)
    return "\n".join(text for text in texts if parse_python(text) is not None)


def _check(code: str, entry: str) -> tuple[str, int]:
    """Return what to call `check` with, nothing if the code does so itself, and its tests."""
    tree = parse_python(code)
    if tree is None:
        return entry, 1  # the examiner will say what is wrong with it
    called = any(
        isinstance(node, ast.Expr) and ast.unparse(node.value).startswith("check(")
        for node in tree.body
    )
    return "" if called else entry, count_asserts(tree)


def all_failed_by(order: dict[str, Any], end: CandidateEnded) -> list[TestResult]:
    """Return the results of a candidate that was gone before its tests began; at least one."""
    return [end.result(index) for index in range(max(1, order["declared"]))]


class ResultMessage(msgspec.Struct, frozen=True):
    """What test code reports of one test; hostile where it shares a process with the candidate."""

    why: Literal["passed"] | Cause
    detail: str
    expected: str | None = None
    got: str | None = None


class EndingMessage(msgspec.Struct, frozen=True):
    """What ended the test code before its end."""

    why: Cause
    detail: str


class ExaminedMessage(msgspec.Struct, frozen=True):
    """The end of an examination."""

    ending: EndingMessage | None
    notes: list[str]
    token: str


class DetailMessage(msgspec.Struct, frozen=True):
    """Why an examination was given up."""

    detail: str


Message = TypeVar("Message")


def decode(frame: Frame, kind: type[Message]) -> Message:
    """Parse a hostile payload as a message of one kind, or raise Malformed."""
    try:
        return msgspec.convert(parse(frame.payload), kind)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from None


class ResultRecord:
    """The results of one examination, completed when it ends."""

    def __init__(self, order: dict[str, Any], clock: Stopwatch) -> None:
        self._results: dict[int, TestResult] = {}
        self._clock = clock
        self._declared: int = order["declared"]
        self._all: bool = order["unit"]
        self._counted = clock.passed

    def add(self, frame: Frame) -> None:
        """Take down one result, or raise Malformed."""
        if frame.number >= max(1, self._declared):
            raise Malformed(f"a result of test {frame.number} of {self._declared}")
        message = decode(frame, ResultMessage)
        now = self._clock.passed
        self._results[frame.number] = TestResult(
            index=frame.number,
            passed=message.why == "passed",
            bucket=BUCKETS[message.why],
            detail=message.detail[:MAX_TEXT],
            expected=_cut(message.expected),
            got=_cut(message.got),
            seconds=round(now - self._counted, 6),
        )
        self._counted = now

    def complete(self, ending: EndingMessage | None) -> None:
        """Account for tests without a result when the examiner is done."""
        if ending is not None:
            self.fill(CandidateEnded(BUCKETS[ending.why], ending.detail))
        elif self._all and len(self._results) < self._declared:
            self.fill(CandidateEnded(Bucket.EARLY_EXIT, "this test was not seen to run"))
        elif not self._results and not self._declared:
            self._results[0] = TestResult(index=0, passed=True)  # a check without any assert

    def fill(self, end: CandidateEnded) -> None:
        """Count every test without a result as failed, and at least one."""
        missing = [index for index in range(self._declared) if index not in self._results]
        for index in missing or [self._declared]:
            self._results[index] = end.result(index)

    def tests(self) -> list[TestResult]:
        """Return all results in order."""
        return [self._results[index] for index in sorted(self._results)]


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:MAX_TEXT]


def examiner_limits(limits: Limits) -> Limits:
    """Return how much an examiner may use, which runs trusted code on hostile values."""
    return limits.with_seconds(max(EXAMINER_SECONDS, 2 * limits.wall_seconds))


def examiner_ended(ending: Ending) -> CandidateEnded:
    """Say what it means when an examiner ends before its examination does."""
    match ending:
        case TimedOut():
            return CandidateEnded(Bucket.CPU_TIME, "the test did not come to an end on this answer")
        case OutputTooLong():
            detail = "the test asked for more than may cross the border"
            return CandidateEnded(Bucket.OUTPUT_OVERFLOW, detail)
    raise HarnessError(f"the examiner ended: {ending}")


class Examination:
    """One candidate under one examiner."""

    def __init__(self, sandbox: Sandbox, candidate: Candidate, limits: Limits) -> None:
        self._examiner = sandbox.open("examiner", examiner_limits(limits))
        self._candidate = candidate
        self._due: list[int] = []

    def run(self, order: dict[str, Any]) -> tuple[list[TestResult], frozenset[str]]:
        """Relay messages until the examiner is done or the candidate is gone.

        Return the results and the examiner's notes.
        """
        self._tell_examiner(frames.EXAMINE, 0, frames.dump(order))
        record = ResultRecord(order, self._candidate.guest.clock)
        notes: frozenset[str] = frozenset()
        try:
            while (frame := self._from_examiner()).kind != frames.EXAMINED:
                match frame.kind:
                    case frames.RESULT:
                        record.add(frame)
                    case frames.BROKEN:
                        raise protocol_violation(decode(frame, DetailMessage).detail)
                    case frames.UNFIT:
                        raise UnfitError(decode(frame, DetailMessage).detail)
                    case frames.CALL | frames.OP | frames.VALUE | frames.RAISED:
                        self._ask_candidate(frame)
                    case _:
                        raise HarnessError(f"the examiner sent a message of kind {frame.kind}")
            examined = decode(frame, ExaminedMessage)
            notes = frozenset(examined.notes)
            record.complete(examined.ending)
        except CandidateEnded as end:
            record.fill(end)
        except Malformed as error:
            raise HarnessError(f"the examiner sent a malformed message: {error}") from None
        finally:
            self._examiner.finish()
        return record.tests(), notes

    def _ask_candidate(self, frame: Frame) -> None:
        """Pass a question, or an answer, to the candidate, and what it says to that back."""
        if frame.kind in (frames.CALL, frames.OP):
            self._due.append(frame.number)
        self._candidate.guest.send(frames.pack(*frame))
        kinds = (frames.VALUE, frames.RAISED, frames.CALLBACK)
        said = expect_reply(self._candidate, self._due[-1], *kinds)
        if said.kind == frames.RAISED:
            refuse_malformed_exception(said)
        if said.kind != frames.CALLBACK:
            self._due.pop()
        self._tell_examiner(*said)

    def _tell_examiner(self, kind: int, number: int, payload: bytes) -> None:
        self._examiner.send(frames.pack(kind, number, payload))

    def _from_examiner(self) -> Frame:
        try:
            return self._examiner.receive()
        except GuestEnded as end:
            raise examiner_ended(end.ending) from None


class Together:
    """Candidate and tests in one process; what it says counts only with its token at the end."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    def run(self, order: dict[str, Any], source: str, *, denied: bool) -> list[TestResult]:
        """Send everything at once and take down what is reported."""
        token = secrets.token_hex(16)
        record = ResultRecord(order, self._candidate.guest.clock)
        message = {**order, "source": source, "token": token, "denied": denied}
        try:
            self._candidate.send(frames.EXAMINE, 0, message)
            await_load(self._candidate)
            while (frame := self._candidate.receive()).kind == frames.RESULT:
                record.add(frame)
            if frame.kind == frames.BROKEN:
                raise protocol_violation(decode(frame, DetailMessage).detail)
            examined = decode(frame, ExaminedMessage) if frame.kind == frames.EXAMINED else None
            if examined is None or examined.token != token:
                raise protocol_violation("an examination without its token")
            record.complete(examined.ending)
        except CandidateEnded as end:
            record.fill(end)
        except Malformed as error:
            record.fill(protocol_violation(f"a malformed result: {error}"))
        return record.tests()
