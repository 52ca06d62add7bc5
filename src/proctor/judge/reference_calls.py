"""Calls whose right answers are those of the reference solution.

The reference is asked once, in the sandbox, what every candidate will be asked; its answers are
kept on disk. All calls of a sample share one clock, and one message if `can_batch` allows it. If
the bytes that come back are those that the reference gave, everything is right and nothing has to
be read; else see `reference_comparison.py`.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib import metadata
from typing import Any

import msgspec

from proctor.cancellation import shielded
from proctor.extraction.assemble import reference_program
from proctor.judge import reference_answers
from proctor.judge.assertions import CACHE_SIZE, AssertionJudge
from proctor.judge.batching import can_batch
from proctor.judge.calls import MAX_HASHED, read_value
from proctor.judge.conversation import (
    Candidate,
    CandidateEnded,
    Findings,
    FrameSource,
    HarnessError,
    Transcript,
    apply_output_limit,
    await_load,
    ended_by_exception,
    expect_reply,
    read_message,
)
from proctor.judge.judgement import Judgement
from proctor.judge.live_tests import UnfitError
from proctor.judge.reference_answers import ReferenceAnswers
from proctor.judge.reference_comparison import (
    LONG,
    ReferenceComparison,
    ReferenceTask,
    Value,
    is_digest,
    reference_calls,
)
from proctor.records.execution import Execution, OutputTooLong, SandboxFailed
from proctor.records.program import Program
from proctor.records.task import ReferenceCases, Task
from proctor.records.verdict import Bucket, TestResult, decide
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame
from proctor.sandbox.inside.roles.candidate import digest_of

REFERENCE_SECONDS = 300.0


class ReferenceCallsJudge:
    """Holds samples against references; safe for use by several threads."""

    def __init__(
        self,
        sandbox: Sandbox,
        code: AssertionJudge,
        *,
        narrow: Callable[[ReferenceCases], ReferenceCases],
        value: Callable[[ReferenceCases], Value],
        early_stop: bool = False,
    ) -> None:
        """Use `code` for proofs; `narrow` picks cases, and `value` says how to compare them."""
        self._sandbox = sandbox
        self._code = code
        self._narrow = narrow
        self._value = value
        self._early_stop = early_stop
        self._states: OrderedDict[int, tuple[Task, Future[ReferenceTask]]] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, cases: ReferenceCases, program: Program) -> Judgement:
        """Judge one sample."""
        state = self._state(task, cases)
        if state.separate is None:
            tests, executions = self._ask(state, program)
        else:
            tests, executions = self._ask_live(state, program, state.separate)
        tests = apply_output_limit(tests, executions[0])
        clock = self._sandbox.enforcement().clock
        return Judgement(
            verdict=decide(tests, declared=len(state.passed), timeout_is_final=True),
            findings=Findings(tests=tests, executions=executions, clock=clock),
            limits=state.limits,
        )

    def _ask(
        self, state: ReferenceTask, program: Program
    ) -> tuple[Sequence[TestResult], list[Execution]]:
        """Send all calls at once."""
        exchanged = self._sandbox.exchange(state.request(program), state.limits)
        if exchanged.answers == state.right:
            return state.passed, [exchanged.execution]
        comparison = ReferenceComparison(self._sandbox, state, program, early_stop=self._early_stop)
        return comparison.all(Transcript(exchanged)), [exchanged.execution, *comparison.executions]

    def _ask_live(
        self, state: ReferenceTask, program: Program, requests: Sequence[bytes]
    ) -> tuple[Sequence[TestResult], list[Execution]]:
        """Send each call when the one before is answered."""
        candidate = Candidate(self._sandbox, state.limits)
        comparison = ReferenceComparison(self._sandbox, state, program, early_stop=self._early_stop)
        try:
            candidate.guest.send(state.load(program))
            tests = comparison.all(candidate, lambda index: candidate.guest.send(requests[index]))
            execution = candidate.finish()
        finally:
            candidate.abort()
        return tests, [execution, *comparison.executions]

    def _state(self, task: Task, cases: ReferenceCases) -> ReferenceTask:
        """Ask the reference once; who comes meanwhile waits for its answers."""
        with self._lock:
            kept = self._states.get(id(task))
            if kept is None:
                mine: Future[ReferenceTask] = Future()
                self._states[id(task)] = task, mine
                if len(self._states) > CACHE_SIZE:
                    self._states.popitem(last=False)
        if kept is not None:
            return kept[1].result()
        try:
            with shielded():
                mine.set_result(self._prepare(task, self._narrow(cases)))
        except BaseException as error:
            if not isinstance(error, UnfitError):  # ours, and worth another try
                with self._lock:
                    self._states.pop(id(task), None)
            mine.set_exception(error)
            raise
        return mine.result()

    def _prepare(self, task: Task, cases: ReferenceCases) -> ReferenceTask:
        program = reference_program(task)
        if program is None:
            raise UnfitError("there is no reference solution to hold samples against")
        limits = task.limits.with_seconds(max(REFERENCE_SECONDS, task.limits.wall_seconds))
        state = ReferenceTask(
            task=task,
            cases=cases,
            reference=program,
            questions=reference_calls(cases, 0, len(cases.inputs)),
            separate=None,
            right=b"",
            frames=(),
            passed=_passed(cases),
            limits=limits,
            value=self._value(cases),
        )
        said, seconds = self._answers(state)
        right = _frames_of(said, len(cases.inputs))
        limit = max(task.limits.wall_seconds, cases.patience * seconds)
        batch = not task.metadata.one_at_a_time and _can_batch(cases.inputs, right)
        each = (
            None if batch else [reference_calls(cases, i, i + 1) for i in range(len(cases.inputs))]
        )
        return msgspec.structs.replace(
            state,
            separate=each,
            right=said,
            frames=right,
            limits=task.limits.with_seconds(limit),
        )

    def _answers(self, state: ReferenceTask) -> ReferenceAnswers:
        """Return what the reference says, and make sure that it is right, unless that is known."""
        enforced = self._sandbox.enforcement()
        asked, proof = state.request(state.reference), state.cases.proof
        proven = b"" if proof is None else msgspec.json.encode(proof)
        means = [*enforced.toolchains.values(), *enforced.packages]
        key = reference_answers.answers_key([metadata.version("proctor"), *means, asked, proven])
        known = reference_answers.load_answers(key)
        if known is not None:
            return known
        exchanged = self._sandbox.exchange(asked, state.limits)
        execution = exchanged.execution
        if isinstance(execution.ending, SandboxFailed):
            raise HarnessError(execution.ending.reason)
        if isinstance(execution.ending, OutputTooLong):
            raise UnfitError("the reference solution says more than may cross the border")
        _check(Transcript(exchanged), len(state.passed))
        if proof is not None:
            task = msgspec.structs.replace(state.task, tests=proof)
            verdict = self._code.judge(task, state.reference).verdict
            if verdict.bucket is not Bucket.PASSED:
                reason = f"the reference solution fails the task's own tests: {verdict.detail}"
                raise UnfitError(reason)
        found = ReferenceAnswers(exchanged.answers, execution.usage.cpu_seconds)
        reference_answers.store_answers(key, found)
        return found


def _passed(cases: ReferenceCases) -> list[TestResult]:
    groups = [name for name, count in cases.groups.items() for _ in range(count)]
    return [
        TestResult(index=index, passed=True, group=groups[index] if groups else None)
        for index in range(len(cases.inputs))
    ]


def _check(source: FrameSource, count: int) -> None:
    """Refuse a reference that does not answer every question with a plain value."""
    index = -1
    try:
        await_load(source)
        for index in range(count):
            frame = expect_reply(source, index + 1, frames.VALUE, frames.RAISED)
            if frame.kind == frames.RAISED:
                raise ended_by_exception(read_message(frame))
            if b'{"h":' in frame.payload or b'{"x":' in frame.payload:
                raise UnfitError(f"the reference answers input {index} with an object")
    except CandidateEnded as end:
        where = "while it is loaded" if index < 0 else f"on input {index}"
        raise UnfitError(f"the reference solution fails {where}: {end.detail}") from None


def _can_batch(inputs: Sequence[Sequence[Any]], answers: Sequence[Frame]) -> bool:
    """Apply `can_batch`; an answer known by its digest only could be any long argument."""
    try:
        digests = [is_digest(frame) for frame in answers]
        expected = [
            None if digest else read_value(frame, MAX_HASHED + len(frame.payload))[0]
            for digest, frame in zip(digests, answers, strict=True)
        ]
    except CandidateEnded:  # the reference's answers cannot be read
        return False
    if any(digests) and any(digest_of(list(given), LONG) for given in inputs):
        return False
    return can_batch(inputs, expected)


def _frames_of(said: bytes, count: int) -> list[Frame]:
    """Return the answers to all questions; what came first said that the program was loaded."""
    found = list(frames.Reader().feed(said))
    return found[1 : count + 1]
