"""The talk between test code and a candidate, both C++, each in a process of its own.

Every message passes here. The tests' process runs nothing of the candidate's and the candidate's
knows nothing of the tests, so a word of the former is a word of the tests; what the latter sends is
bytes, bounded by their frame, which the tests' side reads as hostile (see `cpp/host.cpp`). The
candidate's clock runs while it owes an answer; the tests have a clock of their own.
"""

import hmac
import signal
import struct

from proctor.judge.conversation import CandidateEnded, HarnessError, ended_by, protocol_violation
from proctor.judge.live_tests import UnfitError
from proctor.judge.stdin import program_failure
from proctor.records.execution import Ending, Execution, Exited, SandboxFailed, Signalled
from proctor.records.verdict import Bucket
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame
from proctor.sandbox.supervisor.guest import Guest, GuestEnded
from proctor.sandbox.toolchains.execute import is_used_up

TOKEN_BYTES = 32
MAX_CALLS = 20_000
"""More than any test makes; each is passed on by hand."""
_RESULT = struct.Struct(f"<{TOKEN_BYTES}sci")


class UnlinkedError(Exception):
    """A part of a program could not be loaded."""


def begin(guest: Guest, token: bytes) -> None:
    """Tell a host by which token a result of its tests is known."""
    guest.send(frames.pack(frames.LOAD, 0, token))


def hear(tests: Guest, candidate: Guest, token: bytes) -> CandidateEnded | None:
    """Pass calls and values on until the tests are done; None: they passed.

    UnlinkedError is about the candidate; UnfitError, that the tests fail by themselves.
    """
    calls = 0
    while True:
        try:
            frame = tests.receive()
        except GuestEnded as end:
            return _tests_ended(end.ending, calls)
        match frame.kind:
            case frames.CALL:
                calls += 1
                if calls > MAX_CALLS:
                    return CandidateEnded(
                        Bucket.WALL_TIME, f"the tests made more than {MAX_CALLS} calls"
                    )
                try:
                    value = _ask(candidate, frame)
                except CandidateEnded as end:
                    return end
                tests.send(frames.pack(frames.VALUE, frame.number, value))
            case frames.RESULT:
                return _result(frame, token) or _farewell(candidate)
            case frames.BROKEN:
                return protocol_violation(frame.payload.decode("utf-8", "replace"))
            case frames.LARGE if calls:  # made of what it answered: nobody else's doing
                return CandidateEnded(
                    Bucket.OUTPUT_OVERFLOW, "output overflow: a call is too large to cross"
                )
            case _:
                raise UnfitError(f"the tests cannot be run by themselves: {_text(frame)}")


def hear_together(guest: Guest, token: bytes) -> CandidateEnded | None:
    """Hear how tests went that share a process with the candidate; None: they passed."""
    try:
        frame = guest.receive()
    except GuestEnded:
        return left(_finished(guest))
    match frame.kind:
        case frames.UNLINKED:
            raise UnlinkedError(_text(frame))
        case frames.RESULT:
            wrong = _result(frame, token)
            if wrong is not None:
                return wrong
            guest.wait()
            return _unless_clean(_finished(guest))
        case _:
            return protocol_violation(f"sent a message of kind {frame.kind}")


def left(execution: Execution) -> CandidateEnded:
    """Say what it means that a process ended that owed something."""
    end = program_failure(execution, "cpp")
    if end is not None and end.bucket is not Bucket.TEST_EXCEPTION:
        return end
    return ended_by(execution.ending)


def _ask(candidate: Guest, call: Frame) -> bytes:
    """Have a candidate answer a call; CandidateEnded if it does not."""
    candidate.send(frames.pack(frames.CALL, call.number, call.payload))
    try:
        frame = candidate.receive()
    except GuestEnded:
        raise left(_finished(candidate)) from None
    if frame.kind == frames.UNLINKED:
        raise UnlinkedError(_text(frame))
    if frame.number != call.number:
        raise protocol_violation(f"answered call {frame.number} when {call.number} was due")
    if frame.kind == frames.LARGE:
        raise CandidateEnded(
            Bucket.OUTPUT_OVERFLOW, "output overflow: the value is too large to cross"
        )
    if frame.kind == frames.BROKEN:
        raise HarnessError(f"the candidate's side could not read a call: {_text(frame)}")
    if frame.kind != frames.VALUE:
        raise protocol_violation(f"sent a message of kind {frame.kind}")
    return frame.payload


def _result(frame: Frame, token: bytes) -> CandidateEnded | None:
    """Read how tests went, as they say; None: they passed."""
    if len(frame.payload) < _RESULT.size:
        return protocol_violation("a result that is too short")
    echoed, said, line = _RESULT.unpack_from(frame.payload)
    if not hmac.compare_digest(echoed, token):
        return protocol_violation("a result that is not the tests'")
    if said == b"y":
        return None
    what = frame.payload[_RESULT.size :].decode("utf-8", "replace")
    return CandidateEnded(Bucket.WRONG_ANSWER, f"line {line}: {what}")


def _tests_ended(ending: Ending, calls: int) -> CandidateEnded:
    """Say what it means that tests ended without a result.

    If they had heard nothing of the candidate yet, it is nobody's doing but theirs.
    """
    if isinstance(ending, SandboxFailed):
        raise HarnessError(ending.reason)
    why = ended_by(ending)
    if calls == 0:
        raise UnfitError(f"the tests fail by themselves: {why.detail}")
    match ending:
        case Exited(code) if code != 0:
            return CandidateEnded(Bucket.WRONG_ANSWER, f"the tests ended with exit status {code}")
        case Signalled(number) if number == signal.SIGABRT:
            return CandidateEnded(Bucket.WRONG_ANSWER, "an assertion of the tests failed")
    return CandidateEnded(why.bucket, f"on its answer the tests {why.detail}")


def _farewell(candidate: Guest) -> CandidateEnded | None:
    """Let a candidate end whose tests passed; what it does then counts as in one process."""
    candidate.send(frames.pack(frames.END, 0, b""))
    candidate.wait()
    return _unless_clean(_finished(candidate))


def _finished(guest: Guest) -> Execution:
    return is_used_up(guest.finish(), guest.limits)


def _unless_clean(execution: Execution) -> CandidateEnded | None:
    return None if execution.ending == Exited(0) else left(execution)


def _text(frame: Frame) -> str:
    return frame.payload[:1024].decode("utf-8", "replace")
