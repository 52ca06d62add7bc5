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
from proctor.sandbox.inside.roles.proxies import ASKED, OBJECTS, STUCK, TOLD

ONE_PROCESS = re.compile(
    r"\b(?:patch|mock|monkeypatch|capsys|capfd|redirect_std\w+|sys\.std\w+|sys\.modules"
    r"|getsource|globals|__code__|__closure__|catch_warnings)\b"
)
"""Words of tests that reach into the candidate's process; whether they do, the reference tells."""


REMEMBERED = 2_000
"""How many tasks' exams are kept: a stream of tasks may have no end."""


class _Exam(msgspec.Struct, kw_only=True):
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
        self._exams: OrderedDict[str, _Exam] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, program: Program) -> Judgement:
        """Judge one sample, apart if that can be done."""
        exam = self._exam(task)
        found = self._together(exam, program) if exam.together else self._apart(exam, program)
        notes = found.findings.notes
        if isinstance(found.verdict, Failed) and notes & {OBJECTS, STUCK}:
            return self._doubt_failure(exam, program, found)
        if isinstance(found.verdict, Passed) and notes & {ASKED, TOLD}:
            return self._doubt_pass(exam, found)
        return found

    def _exam(self, task: Task) -> _Exam:
        """Look at a task once, however often it comes and as however many objects."""
        with self._lock:
            if task.sha256 not in self._exams:
                cases = reduce_to_cases(task)
                exam = _Exam(
                    task=task,
                    asked=None
                    if cases is None
                    else CallBatch([encode_call(case) for case in cases]),
                    batch=cases is not None and _can_batch(task, cases),
                    order=examination_order(task, early_stop=self._early_stop),
                    lock=threading.RLock(),
                )
                self._exams[task.sha256] = exam
                if len(self._exams) > REMEMBERED:
                    self._exams.popitem(last=False)
            exam = self._exams[task.sha256]
        with exam.lock:
            if not exam.settled and exam.asked is None and ONE_PROCESS.search(_test_text(task)):
                self._settle_process(exam)
            exam.settled = True
        return exam

    def _settle_process(self, exam: _Exam) -> None:
        """Find out with the reference whether a task can be judged apart."""
        program = reference_program(exam.task)
        exam.together = program is None or not isinstance(
            self._reference_apart(exam, program).verdict, Passed
        )
        if program is None or not exam.together:
            return
        verdict = self._together(exam, program).verdict
        if not isinstance(verdict, Passed):
            raise UnfitError(f"the reference solution fails: {verdict.detail}")

    def _reference_apart(self, exam: _Exam, program: Program) -> Judgement:
        with exam.lock:
            if exam.reference is None:
                exam.reference = self._apart(exam, program)
            return exam.reference

    def _doubt_failure(self, exam: _Exam, program: Program, found: Judgement) -> Judgement:
        """Blame a failure that might be the border's on the candidate only if it is its own."""
        if reference_program(exam.task) is None:
            return found
        with exam.lock:
            if not exam.together:
                self._settle_process(exam)
        return self._together(exam, program) if exam.together else found

    def _doubt_pass(self, exam: _Exam, found: Judgement) -> Judgement:
        """Believe objects that speak for themselves only where the reference has such, too."""
        program = reference_program(exam.task)
        if program is None:
            return found
        theirs = self._reference_apart(exam, program)
        notes = found.findings.notes - theirs.findings.notes
        if not notes & {ASKED, TOLD} or not isinstance(theirs.verdict, Passed):
            return found
        detail = "passes only by what its own objects say of themselves"
        verdict = Failed(
            bucket=Bucket.WRONG_ANSWER, detail=detail, tests=found.findings.tests, score=0.0
        )
        return msgspec.structs.replace(found, verdict=verdict)

    def _apart(self, exam: _Exam, program: Program) -> Judgement:
        """Judge with candidate and tests in processes of their own."""
        if exam.asked is not None:
            compare = self._compare if exam.batch else self._compare_live
            try:
                return compare(exam, program, exam.asked)
            except NeedsExaminerError:
                pass
        return self._examine(exam, program)

    def _compare(self, exam: _Exam, program: Program, asked: CallBatch) -> Judgement:
        """Send all calls at once and compare the answers here."""
        requests = asked.requests(program, denied=exam.task.metadata.denylist)
        exchanged = self._sandbox.exchange(requests, exam.task.limits)
        objects = False
        try:
            tests, objects = asked.judge(exchanged, early_stop=self._early_stop)
        except CandidateEnded as end:
            tests = all_failed_by(exam.order, end)
        notes = frozenset({OBJECTS} if objects else ())
        return self._found(exam, tests, exchanged.execution, notes)

    def _compare_live(self, exam: _Exam, program: Program, asked: CallBatch) -> Judgement:
        """Send each call when the one before is answered, and compare the answers here."""
        task = exam.task
        candidate = Candidate(self._sandbox, task.limits)
        objects = False
        try:
            candidate.guest.send(load_request(program.source, denied=task.metadata.denylist))
            tests, objects = judge_all(
                candidate,
                asked.questions,
                ask=lambda question: candidate.guest.send(question.request),
                early_stop=self._early_stop,
            )
            execution = candidate.finish()
        except CandidateEnded as end:
            tests = all_failed_by(exam.order, end)
            execution = candidate.abort()
        finally:
            candidate.abort()
        return self._found(exam, tests, execution, frozenset({OBJECTS} if objects else ()))

    def _examine(self, exam: _Exam, program: Program) -> Judgement:
        """Have an examiner run the tests."""
        task = exam.task
        candidate = Candidate(self._sandbox, task.limits)
        notes: frozenset[str] = frozenset()
        tests: Sequence[TestResult]
        try:
            denied = task.metadata.denylist
            candidate.guest.send(load_request(program.source, denied=denied))
            await_load(candidate)
            examination = Examination(self._sandbox, candidate, task.limits)
            tests, notes = examination.run(exam.order)
            execution = candidate.finish()
        except CandidateEnded as end:
            tests = all_failed_by(exam.order, end)
            execution = candidate.abort()
        finally:
            candidate.abort()
        return self._found(exam, tests, execution, notes)

    def _together(self, exam: _Exam, program: Program) -> Judgement:
        candidate = Candidate(self._sandbox, exam.task.limits, role="together")
        try:
            denied = exam.task.metadata.denylist
            tests = Together(candidate).run(exam.order, program.source, denied=denied)
        finally:
            execution = candidate.abort()
        found = self._found(exam, tests, execution, frozenset())
        return msgspec.structs.replace(found, judged="together")

    def _found(
        self,
        exam: _Exam,
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
        verdict = decide(tests, declared=exam.order["declared"], timeout_is_final=True)
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
