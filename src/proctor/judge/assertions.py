"""Tests that are code: compared here where they are plain, else run by an examiner.

Some failures could be ours: the border could not carry what a test needs. Such a failure counts
only if the reference solution does not fail the same way. If it does, the task is judged
together from then on, and if the reference fails there, too, the task is unfit. The other way
round, a pass that rests on what the candidate's own objects said of themselves (`__eq__`, `in`)
stands only if the reference needs the same.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.extraction.assemble import reference_program
from proctor.judge.batching import can_batch
from proctor.judge.calls import (
    CallBatch,
    NeedsExaminerError,
    encode_call,
    judge_all,
    shown_arguments,
)
from proctor.judge.conversation import (
    Candidate,
    CandidateEnded,
    Findings,
    apply_output_limit,
    await_load,
    load_request,
)
from proctor.judge.judgement import Judgement
from proctor.judge.literal_asserts import Case, reduce_to_cases
from proctor.judge.live_tests import (
    Examination,
    Together,
    UnfitError,
    all_failed_by,
    examination_order,
)
from proctor.records.execution import Execution
from proctor.records.program import Program
from proctor.records.task import Assertions, CheckFunction, Task
from proctor.records.verdict import Bucket, Failed, Passed, TestResult, decide
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.roles.proxies import (
    NOTE_CANNOT_CROSS,
    NOTE_OBJECT_CALLED,
    NOTE_OBJECT_DECIDED,
    NOTE_OBJECTS_CROSSED,
)

ONE_PROCESS = re.compile(
    r"\b(?:patch|mock|monkeypatch|capsys|capfd|redirect_std\w+|sys\.std\w+|sys\.modules"
    r"|getsource|globals|__code__|__closure__|catch_warnings)\b"
)
"""Words of tests that reach into the candidate's process; whether they do, the reference tells."""


CACHE_SIZE = 2_000
"""How many tasks' states are kept: a stream of tasks may have no end."""


class _TaskState(msgspec.Struct, kw_only=True):
    """What is kept of a task between its samples."""

    task: Task
    asked: CallBatch | None
    """What a candidate is asked, if answers can be compared here."""
    batch: bool
    """Whether all of that is sent at once."""
    order: dict[str, Any]
    lock: Any
    """Of whoever finds out what follows; samples of other tasks need not wait."""
    settled: bool = False
    together: bool = False
    reference: Judgement | None = None


class AssertionJudge:
    """Judges assertions and check functions; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, *, early_stop: bool = False) -> None:
        self._sandbox = sandbox
        self._early_stop = early_stop
        self._states: OrderedDict[str, _TaskState] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, program: Program) -> Judgement:
        """Judge one sample, apart if that can be done."""
        state = self._state(task)
        found = self._together(state, program) if state.together else self._apart(state, program)
        notes = found.findings.notes
        if isinstance(found.verdict, Failed) and notes & {NOTE_OBJECTS_CROSSED, NOTE_CANNOT_CROSS}:
            return self._doubt_failure(state, program, found)
        if isinstance(found.verdict, Passed) and notes & {NOTE_OBJECT_DECIDED, NOTE_OBJECT_CALLED}:
            return self._doubt_pass(state, found)
        return found

    def _state(self, task: Task) -> _TaskState:
        """Look at a task once, however often it comes and as however many objects."""
        with self._lock:
            if task.sha256 not in self._states:
                cases = reduce_to_cases(task)
                state = _TaskState(
                    task=task,
                    asked=None
                    if cases is None
                    else CallBatch([encode_call(case) for case in cases]),
                    batch=cases is not None and _can_batch(task, cases),
                    order=examination_order(task, early_stop=self._early_stop),
                    lock=threading.RLock(),
                )
                self._states[task.sha256] = state
                if len(self._states) > CACHE_SIZE:
                    self._states.popitem(last=False)
            state = self._states[task.sha256]
        with state.lock:
            if not state.settled and state.asked is None and ONE_PROCESS.search(_test_text(task)):
                self._settle_process(state)
            state.settled = True
        return state

    def _settle_process(self, state: _TaskState) -> None:
        """Find out with the reference whether a task can be judged apart."""
        program = reference_program(state.task)
        state.together = program is None or not isinstance(
            self._reference_apart(state, program).verdict, Passed
        )
        if program is None or not state.together:
            return
        verdict = self._together(state, program).verdict
        if not isinstance(verdict, Passed):
            raise UnfitError(f"the reference solution fails: {verdict.detail}")

    def _reference_apart(self, state: _TaskState, program: Program) -> Judgement:
        with state.lock:
            if state.reference is None:
                state.reference = self._apart(state, program)
            return state.reference

    def _doubt_failure(self, state: _TaskState, program: Program, found: Judgement) -> Judgement:
        """Blame a failure that might be the border's on the candidate only if it is its own."""
        if reference_program(state.task) is None:
            return found
        with state.lock:
            if not state.together:
                self._settle_process(state)
        return self._together(state, program) if state.together else found

    def _doubt_pass(self, state: _TaskState, found: Judgement) -> Judgement:
        """Believe objects that speak for themselves only where the reference has such, too."""
        program = reference_program(state.task)
        if program is None:
            return found
        theirs = self._reference_apart(state, program)
        notes = found.findings.notes - theirs.findings.notes
        if not notes & {NOTE_OBJECT_DECIDED, NOTE_OBJECT_CALLED} or not isinstance(
            theirs.verdict, Passed
        ):
            return found
        detail = "passes only by what its own objects say of themselves"
        verdict = Failed(
            bucket=Bucket.WRONG_ANSWER, detail=detail, tests=found.findings.tests, score=0.0
        )
        return msgspec.structs.replace(found, verdict=verdict)

    def _apart(self, state: _TaskState, program: Program) -> Judgement:
        """Judge with candidate and tests in processes of their own."""
        if state.asked is not None:
            compare = self._compare if state.batch else self._compare_live
            try:
                return compare(state, program, state.asked)
            except NeedsExaminerError:
                pass
        return self._examine(state, program)

    def _compare(self, state: _TaskState, program: Program, asked: CallBatch) -> Judgement:
        """Send all calls at once and compare the answers here."""
        requests = asked.requests(program, denied=state.task.metadata.denylist)
        exchanged = self._sandbox.exchange(requests, state.task.limits)
        objects = False
        try:
            tests, objects = asked.judge(exchanged, early_stop=self._early_stop)
        except CandidateEnded as end:
            tests = all_failed_by(state.order, end)
        notes = frozenset({NOTE_OBJECTS_CROSSED} if objects else ())
        return self._found(state, tests, exchanged.execution, notes)

    def _compare_live(self, state: _TaskState, program: Program, asked: CallBatch) -> Judgement:
        """Send each call when the one before is answered, and compare the answers here."""
        task = state.task
        candidate = Candidate(self._sandbox, task.limits)
        objects = False
        try:
            candidate.guest.send(load_request(program.source, denied=task.metadata.denylist))
            tests, objects = judge_all(
                candidate,
                asked.calls,
                ask=lambda call: candidate.guest.send(call.request),
                early_stop=self._early_stop,
            )
            execution = candidate.finish()
        except CandidateEnded as end:
            tests = all_failed_by(state.order, end)
            execution = candidate.abort()
        finally:
            candidate.abort()
        return self._found(
            state, tests, execution, frozenset({NOTE_OBJECTS_CROSSED} if objects else ())
        )

    def _examine(self, state: _TaskState, program: Program) -> Judgement:
        """Have an examiner run the tests."""
        task = state.task
        candidate = Candidate(self._sandbox, task.limits)
        notes: frozenset[str] = frozenset()
        tests: Sequence[TestResult]
        try:
            denied = task.metadata.denylist
            candidate.guest.send(load_request(program.source, denied=denied))
            await_load(candidate)
            examination = Examination(self._sandbox, candidate, task.limits)
            tests, notes = examination.run(state.order)
            execution = candidate.finish()
        except CandidateEnded as end:
            tests = all_failed_by(state.order, end)
            execution = candidate.abort()
        finally:
            candidate.abort()
        return self._found(state, tests, execution, notes)

    def _together(self, state: _TaskState, program: Program) -> Judgement:
        candidate = Candidate(self._sandbox, state.task.limits, role="together")
        try:
            denied = state.task.metadata.denylist
            tests = Together(candidate).run(state.order, program.source, denied=denied)
        finally:
            execution = candidate.abort()
        found = self._found(state, tests, execution, frozenset())
        return msgspec.structs.replace(found, judged="together")

    def _found(
        self,
        state: _TaskState,
        tests: Sequence[TestResult],
        execution: Execution,
        notes: frozenset[str],
    ) -> Judgement:
        tests = apply_output_limit(tests, execution)
        findings = Findings(
            tests=tests,
            executions=[execution],
            notes=notes,
            clock=self._sandbox.enforcement().clock,
        )
        verdict = decide(tests, declared=state.order["declared"], timeout_is_final=True)
        return Judgement(verdict=verdict, findings=findings)


def _can_batch(task: Task, cases: Sequence[Case]) -> bool:
    arguments, expected = map(shown_arguments, cases), [case.expected for case in cases]
    return not task.metadata.one_at_a_time and can_batch([*arguments], expected)


def _test_text(task: Task) -> str:
    match task.tests:
        case Assertions(targets=targets, setup=setup):
            return "\n".join([setup, *targets])
        case CheckFunction(code=code, setup=setup):
            return f"{setup}\n{code}"
    return ""
