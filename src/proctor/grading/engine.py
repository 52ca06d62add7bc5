"""Judges programs: on threads of this process here, on a Ray cluster in `ray/engine.py`.

An engine takes programs, some ahead of those that are being judged, and answers each by a future.
Samples become programs in order and on one thread (`pipeline.py`), so which of two identical
programs is judged does not depend on timing.
"""

import os
import socket
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Protocol, runtime_checkable

import msgspec

from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement, Rules
from proctor.judge.reference_check import ReferenceCheck
from proctor.records.execution import Enforcement
from proctor.records.program import Program
from proctor.records.task import Task, TestProgram
from proctor.sandbox import Sandbox

PREFETCH = 2
"""How many programs a worker are at hand, those that it judges included."""
MAX_RULES = 16
"""How many ways to judge are kept ready."""


class JudgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A program to be judged, and how."""

    task: Task
    program: Program
    rules: Rules = Rules()
    confirm_failures: bool = False
    """Whether a failure counts only if the task's own reference solution does not fail, too."""


@runtime_checkable
class Engine(Protocol):
    """What judges programs; safe for use by several threads."""

    @property
    def max_in_flight(self) -> int:
        """Maximum number of programs in flight. Submitting more only queues them."""
        ...

    def enforcement(self) -> Enforcement:
        """Return what holds wherever it judges."""
        ...

    def require_language(self, language: str) -> str:
        """Return the version of a language that works there; a SandboxError says why not."""
        ...

    def judge(self, request: JudgeRequest) -> Judgement:
        """Judge one program and wait for it."""
        ...

    def submit(self, request: JudgeRequest) -> Future[Judgement]:
        """Have one program judged; the future can be cancelled as long as nobody runs it."""
        ...

    def shutdown(self, *, wait: bool) -> None:
        """Cancel programs that have not started; `wait` for those that run."""
        ...

    def close(self) -> None:
        """End everything that still runs."""
        ...


Backend = Sandbox | Engine
"""What a run is given to judge with: a sandbox stands for threads of this process that use it."""


class JudgePool:
    """Judges programs with one sandbox, by whatever rules; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._toolchains = sandbox.enforcement().toolchains
        self._host = socket.gethostname()
        self._lock = threading.Lock()
        self._ready: OrderedDict[Rules, tuple[Judge, ReferenceCheck]] = OrderedDict()

    def judge(self, request: JudgeRequest) -> Judgement:
        """Judge one program."""
        task = request.task
        judge, references = self._by(request.rules)
        judgement = judge.judge(task, request.program)
        if request.confirm_failures or isinstance(task.tests, TestProgram):
            judgement = references.confirm_failure(task, judgement)
        return msgspec.structs.replace(
            judgement, host=self._host, toolchain=self._toolchain(task.language)
        )

    def _by(self, rules: Rules) -> tuple[Judge, ReferenceCheck]:
        with self._lock:
            if rules not in self._ready:
                judge = Judge(self._sandbox, rules)
                self._ready[rules] = judge, ReferenceCheck(judge)
                if len(self._ready) > MAX_RULES:
                    self._ready.popitem(last=False)
            self._ready.move_to_end(rules)
            return self._ready[rules]

    def _toolchain(self, language: str) -> str:
        if language not in self._toolchains:
            self._toolchains = self._sandbox.enforcement().toolchains  # it may be known by now
        return self._toolchains.get(language, "")


class LocalEngine:
    """Judges on threads of this process."""

    def __init__(self, sandbox: Sandbox, workers: int) -> None:
        self._sandbox = sandbox
        self._workers = workers
        self._judges = JudgePool(sandbox)
        self._pool: ThreadPoolExecutor | None = None

    @property
    def max_in_flight(self) -> int:
        """See Engine."""
        return PREFETCH * self._workers

    def enforcement(self) -> Enforcement:
        """See Engine."""
        return self._sandbox.enforcement()

    def require_language(self, language: str) -> str:
        """See Engine."""
        return self._sandbox.require_language(language)

    def judge(self, request: JudgeRequest) -> Judgement:
        """See Engine."""
        return self._judges.judge(request)

    def submit(self, request: JudgeRequest) -> Future[Judgement]:
        """See Engine."""
        if self._pool is None:
            self._pool = grader_threads(self._workers)
        return self._pool.submit(self._judges.judge, request)

    def shutdown(self, *, wait: bool) -> None:
        """See Engine."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=True)

    def close(self) -> None:
        """See Engine."""
        self.shutdown(wait=False)
        self._sandbox.close()


def engine_for(backend: Backend, workers: int) -> Engine:
    """Return what judges with what a run was given."""
    return backend if isinstance(backend, Engine) else LocalEngine(backend, workers)


def grader_threads(workers: int) -> ThreadPoolExecutor:
    """Return threads to grade in; if they fill the machine, each keeps to one processor.

    A sandbox runs where its caller may run. A keeper that wanders between processors pays for it
    at every fork, and what a candidate wastes, it should waste on its own worker's processor.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    seats = cycle(allowed)

    def sit_down() -> None:
        if len(allowed) > 1 and workers % len(allowed) == 0:
            os.sched_setaffinity(0, {next(seats)})

    return ThreadPoolExecutor(workers, thread_name_prefix="grader", initializer=sit_down)
