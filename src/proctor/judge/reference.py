"""Calls whose right answers are those of the reference solution.

The reference is asked once, in the sandbox, what every candidate will be asked; its answers are
kept on disk. All calls of a sample are sent in one message under one clock. If the bytes that come
back are those that the reference gave, everything is right and nothing has to be read.

Long answers do not cross: either side gives the digest of its own. Where they differ the answers
themselves are asked for, in fresh processes, since 1 and 1.0 are equal and floats may be close.
That is done until one of them is found wrong: it decides, and the rest is taken to be wrong, too.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from numbers import Real
from typing import Any

import msgspec

from proctor.judge import answers
from proctor.judge.answers import Answers
from proctor.judge.calls import MAX_HASHED, read_value
from proctor.judge.code import REMEMBERED, CodeJudge
from proctor.judge.examination import UnfitError
from proctor.judge.supervisor import (
    GOODBYE,
    Candidate,
    Findings,
    Gone,
    HarnessError,
    Source,
    Transcript,
    answer,
    forged,
    gone,
    load_request,
    loaded,
    raised,
    read,
)
from proctor.program import Program, reference
from proctor.sandbox import Execution, Limits, OutputTooLong, Sandbox, SandboxFailed
from proctor.sandbox.inside import frames
from proctor.sandbox.inside.examiner import show
from proctor.sandbox.inside.frames import Frame, TooLarge, dump
from proctor.sandbox.inside.values import CannotCross, pack
from proctor.task import ReferenceCases, Task
from proctor.verdict import Bucket, TestResult, Verdict, decide

LONG = 1 << 14
"""Bytes beyond which an answer's digest crosses in its place."""
REFERENCE_SECONDS = 300.0
TARGETS = {
    "value": "{}",
    "root": "{}",
    "elements": "lambda *a: None if (r := ({})(*a)) is None else [*r]",
    "truth": "lambda *a: not not ({})(*a)",
}
"""What is called: a candidate's elements and truth are found on its own side of the border."""

Value = Callable[[Any, Any], bool]
"""Whether a value, the second argument, is as expected."""


class ReferenceFound(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on a sample that was held against the reference."""

    verdict: Verdict
    findings: Findings
    limits: Limits


class _Exam(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a task between its samples."""

    task: Task
    cases: ReferenceCases
    reference: Program
    questions: bytes
    """All that is asked."""
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


class ReferenceJudge:
    """Holds samples against references; safe for use by several threads."""

    def __init__(
        self,
        sandbox: Sandbox,
        code: CodeJudge,
        *,
        narrow: Callable[[ReferenceCases], ReferenceCases],
        value: Callable[[ReferenceCases], Value],
        early_stop: bool = False,
        one_at_a_time: bool = False,
    ) -> None:
        """Use `code` for proofs; `narrow` picks cases, and `value` says how to compare them."""
        self._sandbox = sandbox
        self._code = code
        self._narrow = narrow
        self._value = value
        self._early_stop = early_stop
        self._one_at_a_time = one_at_a_time
        self._exams: OrderedDict[int, tuple[Task, Future[_Exam]]] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, cases: ReferenceCases, program: Program) -> ReferenceFound:
        """Judge one sample."""
        exam = self._exam(task, cases)
        one_by_one = self._one_at_a_time or task.metadata.one_at_a_time
        tests, executions = (self._ask_live if one_by_one else self._ask)(exam, program)
        if isinstance(executions[0].ending, OutputTooLong) and all(test.passed for test in tests):
            tests = [*tests[:-1], gone(executions[0].ending).result(len(tests) - 1)]
        clock = self._sandbox.enforcement().clock
        return ReferenceFound(
            verdict=decide(tests, declared=len(exam.passed), timeout_is_final=True),
            findings=Findings(tests=tests, executions=executions, clock=clock),
            limits=exam.limits,
        )

    def _ask(self, exam: _Exam, program: Program) -> tuple[Sequence[TestResult], list[Execution]]:
        """Send all calls at once."""
        exchanged = self._sandbox.exchange(exam.request(program), exam.limits)
        if exchanged.answers == exam.right:
            return exam.passed, [exchanged.execution]
        hearing = _Hearing(self._sandbox, exam, program, early_stop=self._early_stop)
        return hearing.all(Transcript(exchanged)), [exchanged.execution, *hearing.executions]

    def _ask_live(
        self, exam: _Exam, program: Program
    ) -> tuple[Sequence[TestResult], list[Execution]]:
        """Send one call after the other, so that nobody can look ahead."""
        candidate = Candidate(self._sandbox, exam.limits)
        hearing = _Hearing(self._sandbox, exam, program, early_stop=self._early_stop)
        try:
            candidate.guest.send(exam.load(program))
            tests = hearing.all(
                candidate,
                lambda index: candidate.guest.send(questions(exam.cases, index, index + 1)),
            )
            execution = candidate.finish()
        finally:
            candidate.abort()
        return tests, [execution, *hearing.executions]

    def _exam(self, task: Task, cases: ReferenceCases) -> _Exam:
        """Ask the reference once; who comes meanwhile waits for its answers."""
        with self._lock:
            kept = self._exams.get(id(task))
            if kept is None:
                mine: Future[_Exam] = Future()
                self._exams[id(task)] = task, mine
                if len(self._exams) > REMEMBERED:
                    self._exams.popitem(last=False)
        if kept is not None:
            return kept[1].result()
        try:
            mine.set_result(self._prepare(task, self._narrow(cases)))
        except BaseException as error:
            if not isinstance(error, UnfitError):  # ours, and worth another try
                with self._lock:
                    self._exams.pop(id(task), None)
            mine.set_exception(error)
            raise
        return mine.result()

    def _prepare(self, task: Task, cases: ReferenceCases) -> _Exam:
        program = reference(task)
        if program is None:
            raise UnfitError("there is no reference solution to hold samples against")
        limits = task.limits.with_seconds(max(REFERENCE_SECONDS, task.limits.wall_seconds))
        exam = _Exam(
            task=task,
            cases=cases,
            reference=program,
            questions=questions(cases, 0, len(cases.inputs)),
            right=b"",
            frames=(),
            passed=_passed(cases),
            limits=limits,
            value=self._value(cases),
        )
        said, seconds = self._answers(exam)
        limit = max(task.limits.wall_seconds, cases.patience * seconds)
        return msgspec.structs.replace(
            exam,
            right=said,
            frames=_frames_of(said, len(cases.inputs)),
            limits=task.limits.with_seconds(limit),
        )

    def _answers(self, exam: _Exam) -> Answers:
        """Return what the reference says, and make sure that it is right, unless that is known."""
        enforced = self._sandbox.enforcement()
        asked, proof = exam.request(exam.reference), exam.cases.proof
        proven = b"" if proof is None else msgspec.json.encode(proof)
        key = answers.key_of([*enforced.toolchains.values(), *enforced.packages, asked, proven])
        known = answers.recall(key)
        if known is not None:
            return known
        exchanged = self._sandbox.exchange(asked, exam.limits)
        execution = exchanged.execution
        if isinstance(execution.ending, SandboxFailed):
            raise HarnessError(execution.ending.reason)
        if isinstance(execution.ending, OutputTooLong):
            raise UnfitError("the reference solution says more than may cross the border")
        _check(Transcript(exchanged), len(exam.passed))
        if proof is not None:
            task = msgspec.structs.replace(exam.task, tests=proof)
            verdict = self._code.judge(task, exam.reference).verdict
            if verdict.bucket is not Bucket.PASSED:
                reason = f"the reference solution fails the task's own tests: {verdict.detail}"
                raise UnfitError(reason)
        found = Answers(exchanged.answers, execution.usage.cpu_seconds)
        answers.keep(key, found)
        return found


def questions(cases: ReferenceCases, first: int, last: int, *, whole: bool = False) -> bytes:
    """Return calls as they cross the border; `whole` has long answers cross, too."""
    try:
        packed = pack([list(given) for given in cases.inputs[first:last]])
        message = {
            "f": TARGETS[cases.accept].format(cases.fn_name),
            "plain": _is_plain(packed),
            "most": None if whole else LONG,
            "a": packed,
        }
        return frames.pack(frames.CALLS, first + 1, dump(message))
    except CannotCross as error:
        raise UnfitError(f"an input cannot cross the border: {error}") from None
    except TooLarge as error:
        if last - first <= 1:
            raise UnfitError(f"an input is too large to cross the border: {error}") from None
    middle = (first + last) // 2
    halves = (first, middle), (middle, last)
    return b"".join(questions(cases, *half, whole=whole) for half in halves)


def _is_plain(packed: Any) -> bool:
    """Tell whether what was packed is nothing but what JSON has by itself."""
    if isinstance(packed, list):
        return all(map(_is_plain, packed))
    return not isinstance(packed, dict)


def _passed(cases: ReferenceCases) -> list[TestResult]:
    groups = [name for name, count in cases.groups.items() for _ in range(count)]
    return [
        TestResult(index=index, passed=True, group=groups[index] if groups else None)
        for index in range(len(cases.inputs))
    ]


def _check(source: Source, count: int) -> None:
    """Refuse a reference that does not answer every question with a plain value."""
    index = -1
    try:
        loaded(source)
        for index in range(count):
            frame = answer(source, index + 1, frames.VALUE, frames.RAISED)
            if frame.kind == frames.RAISED:
                raise raised(read(frame))
            if b'{"h":' in frame.payload or b'{"x":' in frame.payload:
                raise UnfitError(f"the reference answers input {index} with an object")
    except Gone as end:
        where = "while it is loaded" if index < 0 else f"on input {index}"
        raise UnfitError(f"the reference solution fails {where}: {end.detail}") from None


def _frames_of(said: bytes, count: int) -> list[Frame]:
    """Return the answers to all questions; what came first said that the program was loaded."""
    found = list(frames.Reader().feed(said))
    return found[1 : count + 1]


class _Hearing:
    """One sample's answers, judged one by one."""

    def __init__(
        self,
        sandbox: Sandbox,
        exam: _Exam,
        program: Program,
        *,
        early_stop: bool,
    ) -> None:
        self._sandbox = sandbox
        self._exam = exam
        self._program = program
        self._early_stop = early_stop
        self._wrong = False
        self.executions: list[Execution] = []

    def all(self, source: Source, ask: Callable[[int], None] = lambda _: None) -> list[TestResult]:
        """Judge all answers in order; `ask` sends a question that was not sent ahead."""
        exam = self._exam
        tests: list[TestResult] = []
        try:
            loaded(source)
            for index, right in enumerate(exam.frames):
                ask(index)
                tests.append(self._one(index, right, source))
                if self._early_stop and not tests[-1].passed:
                    break
        except Gone as end:
            tests += [
                self._grouped(end.result(index)) for index in range(len(tests), len(exam.frames))
            ]
        return tests

    def _one(self, index: int, right: Frame, source: Source) -> TestResult:
        frame = answer(source, index + 1, frames.VALUE, frames.RAISED)
        if frame.payload == right.payload:
            return self._exam.passed[index]
        if frame.kind == frames.RAISED:
            end = raised(read(frame))
            if end.bucket is Bucket.TAMPERING:
                raise end
            return self._grouped(end.result(index))
        if _is_digest(frame) or _is_digest(right):
            return self._look_closer(index)
        return self._compare(index, right, frame)

    def _compare(self, index: int, right: Frame, frame: Frame) -> TestResult:
        expected = read_value(right, MAX_HASHED + len(right.payload))[0]
        got = read_value(frame, MAX_HASHED + len(right.payload))[0]
        if self._accepts(index, expected, got):
            return self._exam.passed[index]
        return self._wrong_answer(index, show(expected), show(got))

    def _look_closer(self, index: int) -> TestResult:
        """Have both sides give their answers in full, unless one was found wrong before."""
        if self._wrong:
            return self._wrong_answer(index, None, None)
        exam = self._exam
        whole = questions(exam.cases, index, index + 1, whole=True)
        values = []
        for program in (exam.reference, self._program):
            request = exam.load(program) + whole + GOODBYE
            exchanged = self._sandbox.exchange(request, exam.limits)
            if program is self._program:
                self.executions.append(exchanged.execution)
            source = Transcript(exchanged)
            try:
                loaded(source)
                values.append(answer(source, index + 1, frames.VALUE))
            except Gone as end:
                self._wrong = True
                return self._grouped(end.result(index))
        result = self._compare(index, *values)
        self._wrong = not result.passed
        return result

    def _accepts(self, index: int, expected: Any, got: Any) -> bool:
        cases, value = self._exam.cases, self._exam.value
        if index in cases.also and value(cases.also[index], got):
            return True
        if cases.accept == "elements":
            return _same_elements(expected, got)
        if cases.accept == "root":
            return is_root(cases.inputs[index][0], got, cases.tolerance)
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
        group = self._exam.passed[result.index].group
        return msgspec.structs.replace(result, group=group) if group else result


def _is_digest(frame: Frame) -> bool:
    message = read(frame)
    if "d" in message and not isinstance(message["d"], str):
        raise forged("a digest that is no text")
    return "d" in message


def _same_elements(expected: Any, got: Any) -> bool:
    """Tell whether two lists have the same elements; hashes may be chosen to collide."""
    if not isinstance(got, list) or len(got) > MAX_HASHED + len(expected):
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
