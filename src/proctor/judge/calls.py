"""Calls with plain arguments, compared by the supervisor.

The arguments go to the candidate; the expected values never leave this process.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from proctor.extraction.python.syntax import bound_names, parse_answer
from proctor.judge.checker import WRONG, Accept
from proctor.judge.conversation import (
    GOODBYE,
    Candidate,
    CandidateEnded,
    Findings,
    FrameSource,
    Transcript,
    apply_output_limit,
    await_load,
    ended_by_exception,
    expect_reply,
    load_request,
    protocol_violation,
    read_message,
)
from proctor.judge.literal_asserts import Case
from proctor.judge.live_tests import UnfitError
from proctor.judge.stdin import OUT_OF_TIME
from proctor.records.execution import Execution
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.verdict import Bucket, TestResult
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, Malformed, TooLarge, dump
from proctor.sandbox.inside.protocol.values import CannotCross, pack, unpack
from proctor.sandbox.inside.roles.examiner import show
from proctor.sandbox.supervisor.exchange import ExchangeResult

MAX_HASHED = 5_000
"""Keys and elements beyond those expected, strings excepted, that the supervisor hashes."""


class Opaque:
    """An object of the candidate that is not plain: equal to nothing."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self._kind} object>"


class NeedsExaminerError(Exception):
    """Only the candidate knows what the test asks about its object."""


class EncodedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A case as it crosses the border, and the very bytes of the right answer."""

    case: Case
    request: bytes
    right: bytes | None


def call_target(fn_name: str, program: Program) -> str:
    """Say how to call a function by its name: as it is, or as the method of a class `Solution`."""
    tree = parse_answer(program.source) if "Solution" in program.source else None
    names = bound_names(tree) if tree is not None else set()
    return f"Solution().{fn_name}" if "Solution" in names and fn_name not in names else fn_name


def encode_call(case: Case, argument: int | None = None, *, only_equal: bool = True) -> EncodedCall:
    """Encode a case once; it is asked of every sample.

    Where not only what is equal is right, or even that is not, the answer has to be looked at.
    """
    try:
        args, kwargs = pack(list(case.args)), pack([list(pair) for pair in case.kwargs.items()])
    except (CannotCross, TooLarge) as error:
        said = f"what test {case.index} passes to a candidate cannot be sent"
        raise UnfitError(f"{said}: {error}") from None
    message: dict[str, Any] = {"f": case.target, "a": args, "k": kwargs, "w": False}
    if argument is not None:
        message["g"] = argument
    right = None
    if case.relation == "equals" and only_equal:
        right = _right(case.expected)
    number = case.index + 1
    return EncodedCall(
        case=case, request=frames.pack(frames.CALL, number, dump(message)), right=right
    )


def _right(expected: Any) -> bytes | None:
    try:
        right = dump({"v": pack(expected)})
    except (CannotCross, TooLarge):
        return None
    return None if b"NaN" in right else right  # which is not equal to itself


def relation_holds(case: Case, got: Any) -> bool:
    """Say whether a plain value is what the test asserts, with the meaning Python gives it."""
    try:
        match case.relation:
            case "equals":
                return bool(got == case.expected)
            case "is":
                return got is case.expected
            case "true":
                return bool(got)
            case "false":
                return not got
            case "near":
                return bool(abs(got - case.expected) < case.tolerance)
            case "within":
                return bool(abs(got - case.expected) <= case.tolerance)
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        return False  # comparing a signalling NaN raises, and a test that raises has not passed


def encode_batch(
    number: int, target: str, inputs: Sequence[Sequence[Any]], max_bytes: int | None
) -> bytes:
    """Return calls of one function as one message; answers over `max_bytes` come as digests."""
    packed = pack([list(given) for given in inputs])
    message = {"f": target, "plain": _is_plain(packed), "max_bytes": max_bytes, "a": packed}
    return frames.pack(frames.CALLS, number, dump(message))


def _is_plain(packed: Any) -> bool:
    """Tell whether what was packed is nothing but what JSON has by itself."""
    if isinstance(packed, list):
        return all(map(_is_plain, packed))
    return not isinstance(packed, dict)


class CallBatch:
    """Calls that are sent at once, and what they come to if all answers are right."""

    def __init__(self, calls: Sequence[EncodedCall]) -> None:
        self.calls = calls
        self._message = _message(calls)
        self._right = _all_right(calls)
        self._passed = [TestResult(index=one.case.index, passed=True) for one in calls]

    def requests(self, program: Program, *, denied: bool) -> bytes:
        """Return all that is ever said to a program."""
        return load_request(program.source, denied=denied) + self._message + GOODBYE

    def judge(
        self, exchanged: ExchangeResult, *, early_stop: bool
    ) -> tuple[list[TestResult], bool]:
        """Judge what a program said to it; also say whether objects came back."""
        if exchanged.answers == self._right:
            return self._passed, False
        return judge_all(Transcript(exchanged), self.calls, early_stop=early_stop)


def _message(calls: Sequence[EncodedCall]) -> bytes:
    """Have all calls in one message if they are calls of one function, by position."""
    cases = [call.case for call in calls]
    one_by_one = b"".join(call.request for call in calls)
    plain = all(case.index == place and not case.kwargs for place, case in enumerate(cases))
    if not plain or len({case.target for case in cases}) != 1:
        return one_by_one
    try:
        return encode_batch(1, cases[0].target, [case.args for case in cases], None)
    except TooLarge:
        return one_by_one


def _all_right(calls: Sequence[EncodedCall]) -> bytes | None:
    """Return what a program says whose every answer is the very bytes of the right one."""
    said = [frames.pack(frames.LOADED, 0, dump({"stage": "done"}))]
    for call in calls:
        if call.right is None:
            return None
        said.append(frames.pack(frames.VALUE, call.case.index + 1, call.right))
    return b"".join(said)


def judge_all(
    source: FrameSource,
    calls: Sequence[EncodedCall],
    *,
    ask: Callable[[EncodedCall], None] = lambda _: None,
    early_stop: bool,
) -> tuple[list[TestResult], bool]:
    """Judge all answers in order; also say whether an object came back that is not plain.

    `ask` sends a call that was not sent ahead.
    """
    await_load(source)
    results: list[TestResult] = []
    objects = False
    try:
        for call in calls:
            ask(call)
            result, opaque = judge_answer(source, call)
            results.append(result)
            objects = objects or opaque
            if early_stop and not result.passed:
                break
    except CandidateEnded as end:
        results += [end.result(call.case.index) for call in calls[len(results) :]]
    return results, objects


def judge_answer(
    source: FrameSource, call: EncodedCall, accept: Accept | None = None
) -> tuple[TestResult, bool]:
    """Wait for one answer and judge it."""
    index = call.case.index
    frame = expect_reply(source, index + 1, frames.VALUE, frames.RAISED)
    if frame.payload == call.right:  # hostile bytes that are right need not be read at all
        return TestResult(index=index, passed=True), False
    if frame.kind == frames.RAISED:
        end = ended_by_exception(read_message(frame))
        if end.bucket is Bucket.TAMPERING:
            raise end
        return end.result(index), False
    got, opaque = read_value(frame, MAX_HASHED + len(call.right or b""))
    case = call.case
    if opaque and case.relation not in ("equals", "is"):
        raise NeedsExaminerError
    if accept is not None:
        complaint = accept(shown_arguments(case), case.expected, got)
    else:
        complaint = None if relation_holds(case, got) else WRONG
    if complaint is None:
        return TestResult(index=index, passed=True), opaque
    result = TestResult(
        index=index,
        passed=False,
        bucket=Bucket.WRONG_ANSWER,
        detail=complaint,
        expected=case.relation if case.relation in ("true", "false") else show(case.expected),
        got=show(got),
    )
    return result, opaque


def shown_arguments(case: Case) -> list[Any]:
    """Return what a call was given, as a checker sees it: named arguments are a dict at the end."""
    return [*case.args, *([case.kwargs] if case.kwargs else [])]


def read_value(frame: Frame, hashed: int) -> tuple[Any, bool]:
    """Read a hostile value; what is not plain, or too costly to look at, becomes `Opaque`."""
    opaque = False

    def other(tag: str, content: Any) -> Any:
        nonlocal opaque
        opaque = True
        if tag == "h":
            return Opaque(str(content[1])[:200])
        if tag in ("x", "a"):
            return Opaque("exception class" if tag == "x" else "array")
        raise Malformed(f"tag {tag!r} may not stand here")

    message = read_message(frame)
    try:
        return unpack(message["v"], other, hashed=hashed), opaque
    except (Malformed, KeyError) as error:
        raise protocol_violation(str(error)) from None
    except TooLarge:
        return Opaque("very large"), True


class CallSequence:
    """Calls sent one after the other; the time limit covers one of them.

    A candidate that does not survive a case is started afresh for the next one.
    """

    def __init__(self, sandbox: Sandbox, program: Program, task: Task, accept: Accept) -> None:
        self._sandbox = sandbox
        self._program = program
        self._task = task
        self._accept = accept
        self._candidate: Candidate | None = None
        self._executions: list[Execution] = []

    def run(
        self, calls: Sequence[EncodedCall], *, early_stop: bool, task_seconds: float
    ) -> Findings:
        """Send all calls, or up to the first wrong answer if early stop is on."""
        tests: list[TestResult] = []
        try:
            for call in calls:
                tests.append(self._ask(call, task_seconds))
                if early_stop and not tests[-1].passed:
                    break
        except _LoadError as failure:
            tests = [failure.end.result(call.case.index) for call in calls]
        finally:
            self._put_down(polite=True)
        if self._executions:
            tests = apply_output_limit(tests, self._executions[-1])
        clock = self._sandbox.enforcement().clock
        return Findings(tests=tests, executions=self._executions, clock=clock)

    def _ask(self, call: EncodedCall, task_seconds: float) -> TestResult:
        if sum(execution.usage.wall_seconds for execution in self._executions) >= task_seconds:
            return OUT_OF_TIME.result(call.case.index)
        candidate = self._candidate or self._start()
        clock = candidate.guest.clock
        clock.lap()
        before = clock.passed
        try:
            candidate.guest.send(call.request)
            result = judge_answer(candidate, call, self._accept)[0]
        except CandidateEnded as end:
            self._put_down(polite=False)
            result = end.result(call.case.index)
        return msgspec.structs.replace(result, seconds=round(clock.passed - before, 6))

    def _start(self) -> Candidate:
        self._candidate = Candidate(self._sandbox, self._task.limits)
        try:
            denied = self._task.metadata.denylist
            self._candidate.guest.send(load_request(self._program.source, denied=denied))
            await_load(self._candidate)
        except CandidateEnded as end:
            raise _LoadError(end) from None
        return self._candidate

    def _put_down(self, *, polite: bool) -> None:
        if self._candidate is not None:
            end = self._candidate.finish if polite else self._candidate.abort
            self._executions.append(end())
            self._candidate = None


class _LoadError(Exception):
    def __init__(self, end: CandidateEnded) -> None:
        super().__init__(end.detail)
        self.end = end
