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

import msgspec

from proctor.judge.examination import Together, UnfitError, order_for
from proctor.judge.supervisor import Candidate, Findings
from proctor.program import Program, reference
from proctor.sandbox import Sandbox
from proctor.task import Task
from proctor.verdict import Bucket, Failed, Passed, Verdict, decide

CHANGES, PLAIN = ("changed", "nothing"), "plain"
UNGUARDED = "unguarded"


class UnitFound(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on a sample whose tests share its process."""

    verdict: Verdict
    findings: Findings


class UnitJudge:
    """Judges unit tests; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, *, early_stop: bool) -> None:
        self._sandbox = sandbox
        self._early_stop = early_stop
        self._telling: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def judge(self, task: Task, program: Program) -> UnitFound:
        """Judge one sample."""
        telling = self._calibrated(task)
        found = self._run(task, program)
        if not isinstance(found.verdict, Passed):
            return found
        doubt = self._doubt(task, program, telling)
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

    def _calibrated(self, task: Task) -> tuple[str, ...]:
        """Return the counterfactuals that tell something, found out once a task."""
        with self._lock:
            if task.task_id not in self._telling:
                self._telling[task.task_id] = self._calibrate(task)
            return self._telling[task.task_id]

    def _calibrate(self, task: Task) -> tuple[str, ...]:
        solution = reference(task)
        if solution is None:
            return ()
        verdict = self._run(task, solution).verdict
        if not isinstance(verdict, Passed):
            raise UnfitError(f"the reference solution fails: {verdict.detail}")
        changes = [change for change in CHANGES if not self._passes(task, solution, change)]
        plain = [PLAIN] if self._passes(task, solution, PLAIN) else []
        return (*changes, *plain)

    def _run(self, task: Task, program: Program, counterfactual: str = "") -> UnitFound:
        order = order_for(task, early_stop=self._early_stop)
        if not order["declared"]:
            raise UnfitError("there are no tests in the test code")
        order["counterfactual"] = counterfactual
        candidate = Candidate(self._sandbox, task.limits, role="together")
        try:
            denied = task.metadata.denylist
            tests = Together(candidate).run(order, program.source, denied=denied)
        finally:
            execution = candidate.abort()
        telling = self._telling.get(task.task_id)
        unguarded = {UNGUARDED} if telling is not None and not {*telling} & {*CHANGES} else set()
        findings = Findings(
            tests=tests,
            executions=[execution],
            notes=frozenset(unguarded),
            clock=self._sandbox.enforcement().clock,
        )
        verdict = decide(tests, declared=order["declared"], timeout_is_final=True)
        return UnitFound(verdict=verdict, findings=findings)
