"""Answers to many calls, held one by one against those of the reference.

Long answers do not cross: either side gives the digest of its own. Where they differ the answers
themselves are asked for, in fresh processes, since 1 and 1.0 are equal and floats may be close.
That is done until one of them is found wrong: it decides, and the rest is taken to be wrong, too.
"""

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import msgspec

from proctor.judge.calls import MAX_HASHED, encode_batch, read_value
from proctor.judge.conversation import (
    GOODBYE,
    CandidateEnded,
    FrameSource,
    Transcript,
    await_load,
    ended_by_exception,
    expect_reply,
    load_request,
    protocol_violation,
    read_message,
)
from proctor.judge.live_tests import UnfitError
from proctor.judge.stdin import OUT_OF_TIME
from proctor.records.execution import Execution
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import ReferenceCases, Task
from proctor.records.verdict import Bucket, TestResult
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, TooLarge
from proctor.sandbox.inside.protocol.values import CannotCross
from proctor.sandbox.inside.roles.examiner import show
from proctor.sandbox.supervisor.exchange import ExchangeResult

LONG = 1 << 14
"""Bytes beyond which an answer's digest crosses in its place."""
TARGETS = {
    "value": "{}",
    "root": "{}",
    "elements": "lambda *a: None if (r := ({})(*a)) is None else [*r]",
    "truth": "lambda *a: not not ({})(*a)",
}
"""What is called: a candidate's elements and truth are found on its own side of the border."""

Value = Callable[[Any, Any], bool]
"""Whether a value, the second argument, is as expected."""


class ReferenceTask(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a task between its samples."""

    task: Task
    cases: ReferenceCases
    reference: Program
    questions: bytes
    """All that is asked, in one batch."""
    separate: Sequence[bytes] | None
    """Each question by itself, if they are sent one at a time."""
    right: bytes
    """All that the reference said."""
    frames: Sequence[Frame]
    """Its answers one by one."""
    passed: Sequence[TestResult]
    limits: Limits
    value: Value

    def load(self, program: Program) -> bytes:
        """Return the request to load a program."""
        return load_request(program.source, denied=self.task.metadata.denylist)

    def request(self, program: Program) -> bytes:
        """Return all that is ever said to a program."""
        return self.load(program) + self.questions + GOODBYE


def reference_calls(cases: ReferenceCases, first: int, last: int, *, whole: bool = False) -> bytes:
    """Return calls as they cross the border; `whole` has long answers cross, too."""
    target = TARGETS[cases.accept].format(cases.fn_name)
    try:
        return encode_batch(first + 1, target, cases.inputs[first:last], None if whole else LONG)
    except CannotCross as error:
        raise UnfitError(f"an input cannot cross the border: {error}") from None
    except TooLarge as error:
        if last - first <= 1:
            raise UnfitError(f"an input is too large to cross the border: {error}") from None
    middle = (first + last) // 2
    halves = (first, middle), (middle, last)
    return b"".join(reference_calls(cases, *half, whole=whole) for half in halves)


class ReferenceComparison:
    """One sample's answers, judged one by one."""

    def __init__(
        self,
        sandbox: Sandbox,
        task: ReferenceTask,
        program: Program,
        *,
        early_stop: bool,
    ) -> None:
        self._sandbox = sandbox
        self._task = task
        self._program = program
        self._early_stop = early_stop
        self._wrong = False
        self.executions: list[Execution] = []

    def all(
        self, source: FrameSource, ask: Callable[[int], None] = lambda _: None
    ) -> list[TestResult]:
        """Judge all answers in order; `ask` sends a question that was not sent ahead."""
        task = self._task
        tests: list[TestResult] = []
        try:
            await_load(source)
            for index, right in enumerate(task.frames):
                ask(index)
                tests.append(self._one(index, right, source))
                if self._early_stop and not tests[-1].passed:
                    break
        except CandidateEnded as end:
            tests += [
                self._grouped(end.result(index)) for index in range(len(tests), len(task.frames))
            ]
        return tests

    def _one(self, index: int, right: Frame, source: FrameSource) -> TestResult:
        frame = expect_reply(source, index + 1, frames.VALUE, frames.RAISED)
        if frame.payload == right.payload:
            return self._task.passed[index]
        if frame.kind == frames.RAISED:
            end = ended_by_exception(read_message(frame))
            if end.bucket is Bucket.TAMPERING:
                raise end
            return self._grouped(end.result(index))
        if is_digest(frame) or is_digest(right):
            return self._look_closer(index)
        return self._compare(index, right, frame)

    def _compare(self, index: int, right: Frame, frame: Frame) -> TestResult:
        expected = read_value(right, MAX_HASHED + len(right.payload))[0]
        got = read_value(frame, MAX_HASHED + len(right.payload))[0]
        if self._accepts(index, expected, got):
            return self._task.passed[index]
        return self._wrong_answer(index, show(expected), show(got))

    def _look_closer(self, index: int) -> TestResult:
        """Have both sides give their answers in full, unless one was found wrong before.

        All that together may take as long as the sample itself.
        """
        task = self._task
        if self._wrong:
            return self._wrong_answer(index, None, None)
        spent = sum(execution.usage.wall_seconds for execution in self.executions)
        if spent >= task.limits.wall_seconds:
            return self._grouped(OUT_OF_TIME.result(index))
        result = self._closely(index)
        self._wrong = not result.passed
        return result

    def _closely(self, index: int) -> TestResult:
        task = self._task
        whole = reference_calls(task.cases, index, index + 1, whole=True) + GOODBYE
        try:
            exchanged = self._sandbox.exchange(task.load(task.reference) + whole, task.limits)
            right = _only_answer(exchanged, index)
        except CandidateEnded:  # too large to cross, and it is known to be another
            return self._wrong_answer(index, None, None)
        exchanged = self._sandbox.exchange(task.load(self._program) + whole, task.limits)
        self.executions.append(exchanged.execution)
        try:
            return self._compare(index, right, _only_answer(exchanged, index))
        except CandidateEnded as end:
            return self._grouped(end.result(index))

    def _accepts(self, index: int, expected: Any, got: Any) -> bool:
        cases, value = self._task.cases, self._task.value
        if index in cases.also and value(cases.also[index], got):
            return True
        if cases.accept == "elements":
            return _same_elements(expected, got)
        if cases.accept == "root":
            given = cases.inputs[index]
            return bool(given) and is_root(given[0], got, cases.tolerance)
        return value(expected, got)

    def _wrong_answer(self, index: int, expected: str | None, got: str | None) -> TestResult:
        return self._grouped(
            TestResult(
                index=index,
                passed=False,
                bucket=Bucket.WRONG_ANSWER,
                detail="wrong answer",
                expected=expected,
                got=got,
            )
        )

    def _grouped(self, result: TestResult) -> TestResult:
        group = self._task.passed[result.index].group
        return msgspec.structs.replace(result, group=group) if group else result


def _only_answer(exchanged: ExchangeResult, index: int) -> Frame:
    source = Transcript(exchanged)
    await_load(source)
    frame = expect_reply(source, index + 1, frames.VALUE, frames.RAISED)
    if frame.kind == frames.RAISED:
        raise ended_by_exception(read_message(frame))
    return frame


def is_digest(frame: Frame) -> bool:
    """Return True if an answer crossed as its digest."""
    message = read_message(frame)
    if "d" in message and not isinstance(message["d"], str):
        raise protocol_violation("a digest that is no text")
    return "d" in message


def _same_elements(expected: Any, got: Any) -> bool:
    """Tell whether two lists have the same elements; hashes may be chosen to collide."""
    if not (isinstance(expected, list) and isinstance(got, list)):
        return False
    if len(got) > MAX_HASHED + len(expected):
        return False
    try:
        return set(expected) == set(got)
    except (TypeError, ArithmeticError):  # lists have no hash, and signalling NaNs have none
        return False


def is_root(coefficients: Sequence[float], got: Any, tolerance: float) -> bool:
    """Tell whether a polynomial is as good as nothing at what was got."""
    if isinstance(got, bool) or not isinstance(got, Real):
        return False
    try:
        terms = (c * math.pow(got, power) for power, c in enumerate(coefficients))
        return abs(sum(terms)) <= tolerance
    except (ArithmeticError, ValueError, TypeError):
        return False
