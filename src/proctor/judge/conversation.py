"""The supervisor's talk with one candidate: every message numbered, bounded and checked.

The supervisor owns the verdict. It sends requests. What comes back is either the answer to the
request that is due or the end of the conversation: `CandidateEnded`, with a bucket. A failure of
ours is `HarnessError` and never reaches a bucket of the candidate's.
"""

import signal
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

import msgspec

from proctor.errors import ProctorError
from proctor.records.execution import (
    Denied,
    Ending,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
    Usage,
)
from proctor.records.limits import Limits
from proctor.records.verdict import Bucket, TestResult
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, Malformed, Reader, TooLarge, parse
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.guest import GuestEnded
from proctor.sandbox.supervisor.protocols import Role

MAX_DETAIL = 1024
GRACE_SECONDS = 1.0


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about one sample: a result a test, and what its processes did."""

    tests: Sequence[TestResult]
    executions: Sequence[Execution] = ()
    notes: frozenset[str] = frozenset()
    clock: str = "wall"

    @property
    def shown(self) -> Execution:
        """Return the execution worth showing: that of the first test that failed, else the last."""
        if not self.executions:
            return Execution(ending=Exited(0))
        failed = [index for index, test in enumerate(self.tests) if not test.passed]
        return self.executions[min(failed[0] if failed else -1, len(self.executions) - 1)]

    @property
    def usage(self) -> Usage:
        """Sum over all its processes, memory excepted, which is the most that one of them had."""
        used = [execution.usage for execution in self.executions]
        return Usage(
            cpu_seconds=sum((one.cpu_seconds for one in used), 0.0),
            wall_seconds=sum((one.wall_seconds for one in used), 0.0),
            memory_bytes=max((one.memory_bytes for one in used), default=0),
        )


class HarnessError(ProctorError):
    """We failed while judging; nothing is known about the candidate."""


class CandidateEnded(Exception):
    """The candidate will answer no more."""

    def __init__(self, bucket: Bucket, detail: str) -> None:
        super().__init__(detail)
        self.bucket = bucket
        self.detail = detail[:MAX_DETAIL]

    def result(self, index: int) -> TestResult:
        """Return the result of a test that it did not live to see."""
        return TestResult(index=index, passed=False, bucket=self.bucket, detail=self.detail)


def ended_by(ending: Ending) -> CandidateEnded:
    """Say what an ending means for a candidate that still owed an answer."""
    match ending:
        case Exited(code):
            detail = f"left with exit status {code} before the tests ended"
            return CandidateEnded(Bucket.EARLY_EXIT, detail)
        case Signalled(number):
            return CandidateEnded(Bucket.CRASH, f"ended by {_signal_name(number)}")
        case TimedOut("cpu"):
            return CandidateEnded(Bucket.CPU_TIME, "the limit of processor time was reached")
        case TimedOut():
            return CandidateEnded(Bucket.WALL_TIME, "the time limit was reached")
        case OutOfMemory():
            return CandidateEnded(Bucket.MEMORY, "the memory limit was reached")
        case OutputTooLong():
            return CandidateEnded(Bucket.OUTPUT_OVERFLOW, "output overflow")
        case Denied(what):
            return CandidateEnded(Bucket.DENIED, f"denied: {what}")
        case SandboxFailed(reason):
            raise HarnessError(reason)


def apply_output_limit(tests: Sequence[TestResult], execution: Execution) -> list[TestResult]:
    """Return results; who wrote too much has failed, even if that came out after all answers."""
    too_long = isinstance(execution.ending, OutputTooLong)
    if not too_long or not tests or not all(test.passed for test in tests):
        return [*tests]
    last = tests[-1]
    failed = ended_by(execution.ending).result(last.index)
    return [*tests[:-1], msgspec.structs.replace(failed, group=last.group)]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class RaisedMessage(msgspec.Struct, frozen=True):
    """What a candidate says of an exception; hostile until it has been converted to this."""

    own: list[tuple[Any, str]]
    """The classes of the candidate's own, as number and name, the exception's own class first."""
    standard: str
    text: str
    exit: bool
    denied: bool
    memory: bool
    line: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | None = None


def ended_by_exception(message: dict[str, Any]) -> CandidateEnded:
    """Say what an exception of the candidate means, as a bucket and a line of text."""
    try:
        error = msgspec.convert(message, RaisedMessage)
    except msgspec.ValidationError:
        return protocol_violation("a malformed exception")
    name = error.own[0][1] if error.own else error.standard
    where = f" (line {error.line})" if error.line else ""
    detail = f"{name}: {error.text}{where}"
    if error.exit:
        return CandidateEnded(Bucket.EARLY_EXIT, f"SystemExit: {error.text}{where}")
    if error.denied:
        return CandidateEnded(Bucket.DENIED, f"denied: {detail}")
    if error.memory:
        return CandidateEnded(Bucket.MEMORY, detail)
    return CandidateEnded(Bucket.TEST_EXCEPTION, detail)


def refuse_malformed_exception(frame: Frame) -> None:
    """End the conversation if a candidate reports an exception that cannot be one."""
    end = ended_by_exception(read_message(frame))
    if end.bucket is Bucket.TAMPERING:
        raise end


def protocol_violation(what: str) -> CandidateEnded:
    """Say that the candidate broke the protocol, which it cannot do by accident."""
    return CandidateEnded(Bucket.TAMPERING, f"broke the border protocol: {what}")


class FrameSource(Protocol):
    """Where frames of a candidate come from."""

    def receive(self) -> Frame:
        """Return the next frame; CandidateEnded when there is none to come."""
        ...


def expect_reply(source: FrameSource, number: int, *kinds: int) -> Frame:
    """Return the answer to request `number`, which must be of one of the kinds."""
    frame = source.receive()
    if frame.number != number:
        raise protocol_violation(f"answered request {frame.number} when {number} was due")
    if frame.kind == frames.EXITED:
        raise ended_by_exception(read_message(frame))
    if frame.kind == frames.LARGE:
        raise CandidateEnded(
            Bucket.OUTPUT_OVERFLOW, "output overflow: the value is too large to cross"
        )
    if frame.kind not in kinds:
        raise protocol_violation(f"sent a message of kind {frame.kind}")
    return frame


def await_load(source: FrameSource) -> None:
    """Return when the program has loaded; CandidateEnded if it did not."""
    message = read_message(expect_reply(source, 0, frames.LOADED))
    stage = message.get("stage")
    if stage == "done":
        return
    failure = ended_by_exception(message)
    if stage == "compile":
        raise CandidateEnded(Bucket.SYNTAX, failure.detail)
    if failure.bucket is Bucket.TEST_EXCEPTION:
        raise CandidateEnded(Bucket.LOAD_EXCEPTION, failure.detail)
    raise failure


def read_message(frame: Frame) -> dict[str, Any]:
    """Parse a hostile payload that must be an object."""
    try:
        message = parse(frame.payload)
    except Malformed as error:
        raise protocol_violation(str(error)) from None
    if not isinstance(message, dict):
        raise protocol_violation("a message that is no object")
    return message


def load_request(source: str, *, denied: bool) -> bytes:
    """Return the request to load a program."""
    return frames.pack(frames.LOAD, 0, frames.dump({"source": source, "denied": denied}))


GOODBYE = frames.pack(frames.END, 0, b"{}")


class Transcript:
    """What a candidate said whose requests were all sent at once."""

    def __init__(self, exchanged: ExchangeResult) -> None:
        self.execution = exchanged.execution
        self._frames = Reader().feed(exchanged.answers)

    def receive(self) -> Frame:
        """Return the next frame; CandidateEnded when there is none to come."""
        try:
            return next(self._frames)
        except StopIteration:
            raise ended_by(self.execution.ending) from None
        except TooLarge as error:
            raise CandidateEnded(Bucket.OUTPUT_OVERFLOW, f"output overflow: {error}") from None


class Candidate:
    """One candidate's process, talked to live."""

    def __init__(self, sandbox: Sandbox, limits: Limits, role: Role = "candidate") -> None:
        self.guest = sandbox.open(role, limits)

    def send(self, kind: int, number: int, message: Any) -> None:
        """Send one request."""
        self.guest.send(frames.pack(kind, number, frames.dump(message)))

    def receive(self) -> Frame:
        """Wait for any frame; CandidateEnded when there is none to come."""
        try:
            return self.guest.receive()
        except GuestEnded as end:
            raise ended_by(end.ending) from None

    def finish(self) -> Execution:
        """Say goodbye, take the last output, and end the process."""
        self.send(frames.END, 0, {})
        return self.guest.finish(GRACE_SECONDS)

    def abort(self) -> Execution:
        """End the process now."""
        return self.guest.finish()
