"""Unit tests that share a process with the candidate, and why a pass of theirs is believed.

Every test that the file declares must be seen to run, and the examination must end with a token
that was chosen after the candidate's text was fixed; the parts of unittest and the builtins must be
what they were. On top of that a pass has to stand up to counterfactuals:

    changed, nothing   with the entry point's values changed, or with an entry point that does
                       nothing, at least one run must fail
    plain              with subclasses of plain types made plain, and objects of the candidate's
                       own classes replaced, the tests must still pass

All are tried with the reference first: one that the reference does not answer as it should tells
nothing. If neither of the first two tells anything the task is `unguarded`, and nobody is accused.
"""

import threading
from collections import OrderedDict

import msgspec

from proctor.extraction.assemble import reference_program
from proctor.judge.conversation import Candidate, Findings, apply_output_limit
from proctor.judge.judgement import Judgement
from proctor.judge.live_tests import Together, UnfitError, examination_order
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.verdict import Bucket, Failed, Passed, decide
from proctor.sandbox import Sandbox

CHANGES, PLAIN = ("changed", "nothing"), "plain"
UNGUARDED = "unguarded"
CACHE_SIZE = 10_000
"""How many tasks' calibrations are kept: a stream of tasks may have no end."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What the reference solution showed about a task."""

    telling: tuple[str, ...] = ()
    """The counterfactuals that tell something."""
    program: Program | None = None
    found: Judgement | None = None
    """The reference itself, and the verdict on it, which has been doubted enough."""
    unfit: str = ""


class _TaskState:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calibration: Calibration | None = None


class UnitTestJudge:
    """Judges unit tests; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, *, early_stop: bool) -> None:
        self._sandbox = sandbox
        self._early_stop = early_stop
        self._states: OrderedDict[str, _TaskState] = OrderedDict()
        self._lock = threading.Lock()

    def judge(self, task: Task, program: Program) -> Judgement:
        """Judge one sample."""
        calibration = self._calibrated(task)
        if calibration.found is not None and program == calibration.program:
            return calibration.found
        found = _marked(self._run(task, program), calibration.telling)
        if not isinstance(found.verdict, Passed):
            return found
        doubt = self._doubt(task, program, calibration.telling)
        if doubt is None:
            return found
        forged = Failed(bucket=Bucket.TAMPERING, detail=doubt, tests=found.verdict.tests)
        return msgspec.structs.replace(found, verdict=forged)

    def _doubt(self, task: Task, program: Program, telling: tuple[str, ...]) -> str | None:
        """Say why a pass is not to be believed, if it is not."""
        if PLAIN in telling and not self._passes(task, program, PLAIN):
            return "its tests pass only by what its own objects say of themselves"
        changes = [counterfactual for counterfactual in telling if counterfactual != PLAIN]
        if changes and all(self._passes(task, program, change) for change in changes):
            return "its tests pass whatever its entry point returns"
        return None

    def _passes(self, task: Task, program: Program, counterfactual: str) -> bool:
        return isinstance(self._run(task, program, counterfactual).verdict, Passed)

    def _calibrated(self, task: Task) -> Calibration:
        """Return what the reference shows, found out once a task."""
        with self._lock:
            state = self._states.setdefault(task.sha256, _TaskState())
            if len(self._states) > CACHE_SIZE:
                self._states.popitem(last=False)
        with state.lock:  # other tasks need not wait
            if state.calibration is None:
                state.calibration = self._calibrate(task)
        if state.calibration.unfit:
            raise UnfitError(state.calibration.unfit)
        return state.calibration

    def _calibrate(self, task: Task) -> Calibration:
        solution = reference_program(task)
        if solution is None:
            return Calibration()
        found = self._run(task, solution)
        if not isinstance(found.verdict, Passed):
            return Calibration(unfit=f"the reference solution fails: {found.verdict.detail}")
        changes = [change for change in CHANGES if not self._passes(task, solution, change)]
        plain = [PLAIN] if self._passes(task, solution, PLAIN) else []
        telling = (*changes, *plain)
        return Calibration(telling=telling, program=solution, found=_marked(found, telling))

    def _run(self, task: Task, program: Program, counterfactual: str = "") -> Judgement:
        order = examination_order(task, early_stop=self._early_stop)
        if not order["declared"]:
            raise UnfitError("there are no tests in the test code")
        order["counterfactual"] = counterfactual
        candidate = Candidate(self._sandbox, task.limits, role="together")
        try:
            denied = task.metadata.denylist
            tests = Together(candidate).run(order, program.source, denied=denied)
        finally:
            execution = candidate.abort()
        tests = apply_output_limit(tests, execution)
        clock = self._sandbox.enforcement().clock
        findings = Findings(tests=tests, executions=[execution], clock=clock)
        verdict = decide(tests, declared=order["declared"], timeout_is_final=True)
        return Judgement(verdict=verdict, judged="together", findings=findings)


def _marked(found: Judgement, telling: tuple[str, ...]) -> Judgement:
    """Note that nothing guards a task that has a reference but no counterfactual for it."""
    if set(telling) & set(CHANGES):
        return found
    findings = msgspec.structs.replace(found.findings, notes=frozenset({UNGUARDED}))
    return msgspec.structs.replace(found, findings=findings)
