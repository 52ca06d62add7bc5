"""A failure says nothing about a candidate if the task's own reference solution fails, too."""

import threading
from collections import OrderedDict
from concurrent.futures import Future

from proctor.cancellation import shielded
from proctor.extraction.assemble import reference_program
from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.verdict import Bucket, Failed, Unscored

CERTAIN = frozenset({Bucket.SYNTAX, Bucket.NO_CODE, Bucket.TAMPERING})
"""Failures of a candidate that no test has a part in."""
TELLING = frozenset(
    {
        *(Bucket.WRONG_ANSWER, Bucket.TEST_EXCEPTION, Bucket.LOAD_EXCEPTION),
        *(Bucket.SYNTAX, Bucket.COMPILE, Bucket.EARLY_EXIT, Bucket.DENIED, Bucket.CRASH),
    }
)
"""Failures of a reference that tell against its task; running out of time tells against a limit."""

CACHE_SIZE = 10_000
"""How many tasks' references are known to be right or wrong."""


class ReferenceCheck:
    """Tries the references of tasks, each once and only when a candidate has failed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lock = threading.Lock()
        self._troubles: OrderedDict[str, Future[str | None]] = OrderedDict()

    def confirm_failure(self, task: Task, judgement: Judgement) -> Judgement:
        """Return a judgement as it is, or that the task is unfit to judge by."""
        verdict = judgement.verdict
        program = reference_program(task)
        if not isinstance(verdict, Failed) or verdict.bucket in CERTAIN or program is None:
            return judgement
        trouble = self._trouble(task, program)
        if trouble is None:
            return judgement
        return Judgement(verdict=Unscored(bucket=Bucket.BENCHMARK, reason=trouble))

    def _trouble(self, task: Task, program: Program) -> str | None:
        with self._lock:
            found = self._troubles.get(task.sha256)
            if found is None:
                mine = self._troubles[task.sha256] = Future[str | None]()
                if len(self._troubles) > CACHE_SIZE:
                    self._troubles.popitem(last=False)
        if found is not None:
            return found.result()
        try:
            with shielded():
                mine.set_result(self._try(task, program))
        except BaseException as error:
            mine.set_exception(error)
            raise
        return mine.result()

    def _try(self, task: Task, program: Program) -> str | None:
        if self._judge.is_reference_known_good(task):
            return None
        verdict = self._judge.judge(task, program).verdict
        if not isinstance(verdict, Failed) or verdict.bucket not in TELLING:
            return None
        detail = f": {verdict.detail}" if verdict.detail else ""
        broken = "context_broken: " if task.context else ""
        return f"{broken}canonical_solution fails the task's own tests ({verdict.bucket}{detail})"
