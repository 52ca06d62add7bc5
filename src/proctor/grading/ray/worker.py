"""A process on some machine that judges programs for another one: one sandbox, some threads.

Programs come in batches (`give`), each task once in a while; what was found out is fetched as soon
as a batch of it is there, or after a moment (`collect`), so one slow program holds up nobody.
Whatever a program did, its judgement is sent without the output that no receipt would show.
"""

import os
import pickle
import socket
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from proctor.errors import ProctorError, SandboxError
from proctor.grading.engine import JudgePool, JudgeRequest, grader_threads
from proctor.grading.ray.placement import WorkerShare
from proctor.grading.receipts import MAX_OUTPUT, software_versions
from proctor.judge.judgement import Judgement, Rules
from proctor.records.execution import Enforcement, Execution
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job
from proctor.sandbox.tiers.select import open_sandbox

LINGER = 0.05
"""For how many seconds a judgement waits for others to travel with, at most."""
KEPT = 64
"""How many tasks are kept, in case that more of their programs come."""

Fetch = Callable[[Any], bytes]


class WorkerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox that every actor opens."""

    sandbox: str = "auto"
    require: str | None = None
    python: str | None = None
    """The interpreter that runs candidates; each actor's own if there is none."""
    packages: Sequence[str] | None = None
    wished: Sequence[str] = ()
    languages: Sequence[str] = ()
    """What else than Python is tried before the first program comes."""


class WorkerReady(msgspec.Struct, frozen=True, kw_only=True):
    """What an actor says of itself."""

    host: str
    version: str
    """Of Proctor."""
    enforcement: Enforcement


class BatchedRequest(NamedTuple):
    """A JudgeRequest in a batch, which carries each task once for all of its programs."""

    task_sha256: str
    program: Program
    rules: Rules
    confirm_failures: bool

    def with_task(self, tasks: Mapping[str, Task]) -> JudgeRequest:
        """Return the request with its task."""
        task = tasks[self.task_sha256]
        return JudgeRequest(
            task=task,
            program=self.program,
            rules=self.rules,
            confirm_failures=self.confirm_failures,
        )


class BatchItem(NamedTuple):
    """Something to do, known by its number."""

    number: int
    asked: BatchedRequest | Job


Result = Judgement | Execution | Exception
Message = tuple[Mapping[str, bytes], Sequence[BatchItem]]
"""Pickled tasks by their digests, and programs; Ray's own pickling of records takes much longer."""


class JudgeWorker:
    """Judges what it is given, on so many threads."""

    def __init__(
        self, setup: WorkerSetup, workers: int, fetch: Fetch, part: WorkerShare | None = None
    ) -> None:
        """`fetch` gets a task that was too large for a message.

        `part` of the machine's processors is kept to, if its actors fill the machine.
        """
        self._setup = setup
        self._workers = workers
        self._fetch = fetch
        self._part = part
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._found: deque[tuple[int, Result]] = deque()
        self._enough = threading.Event()
        self._trouble: Exception | None = None
        self._most = 1
        self._given = self._collected = 0

    def arrive(self) -> WorkerReady | ProctorError:
        """Open the sandbox; say what holds here, or why nothing can be judged here."""
        self._keep_to(self._part)
        host, setup = socket.gethostname(), self._setup
        try:
            self._sandbox: Sandbox = open_sandbox(
                setup.sandbox,
                setup.python or sys.executable,
                setup.require,
                setup.packages,
                setup.wished,
            )
        except ProctorError as error:
            return type(error)(f"{host}: {error}")
        for language in setup.languages:
            with suppress(SandboxError):  # every sample will say that it is missing
                self._sandbox.require_language(language)
        self._judges = JudgePool(self._sandbox)
        self._pool = grader_threads(self._workers)
        return WorkerReady(
            host=host,
            version=software_versions()["proctor"],
            enforcement=self._sandbox.enforcement(),
        )

    def _keep_to(self, part: WorkerShare | None) -> None:
        """Have this thread, and whatever it starts, run on some processors only."""
        if part is None or not hasattr(os, "sched_setaffinity"):
            return
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) == part.of:
            os.sched_setaffinity(0, allowed[part.first : part.first + self._workers])

    def give(self, message: bytes, large: Mapping[str, Any]) -> None:
        """Take a `Message`; tasks that are too large for it can be fetched."""
        try:
            small, items = pickle.loads(message)  # noqa: S301  our own, from a process of our own
            encoded_tasks = {**small, **large}
            tasks = {
                sha256: self._task(sha256, encoded) for sha256, encoded in encoded_tasks.items()
            }
            for item in items:
                self._given += 1
                asked = item.asked if isinstance(item.asked, Job) else item.asked.with_task(tasks)
                self._pool.submit(self._do, item.number, asked)
        except Exception as error:  # noqa: BLE001  nobody waits here; who collects gets it
            self._trouble = error
            self._enough.set()

    def _do(self, number: int, asked: JudgeRequest | Job) -> None:
        found: Result
        try:
            if isinstance(asked, Job):
                found = self._sandbox.run_job(asked)
            else:
                found = brief(self._judges.judge(asked))
        except Exception as error:  # noqa: BLE001  who asked gets it, as from a thread
            found = _sendable(error)
        self._found.append((number, found))
        # who collects is not woken for every single one: that would cost as much as the message
        if len(self._found) >= self._most or self._collected + len(self._found) >= self._given:
            self._enough.set()

    def _task(self, sha256: str, encoded: Any) -> Task:
        task = self._tasks.pop(sha256, None)
        if task is None:
            content = encoded if isinstance(encoded, bytes) else self._fetch(encoded)
            task = pickle.loads(content)  # noqa: S301  our own, from a process of our own
        self._tasks[sha256] = task
        if len(self._tasks) > KEPT:
            self._tasks.popitem(last=False)
        return task

    def collect(self, most: int) -> bytes:
        """Wait for judgements and return them, pickled: `most`, or all there are after a moment."""
        self._most = most
        while not self._found:
            self._enough.wait(LINGER)
            if self._trouble is not None:
                raise self._trouble
        if len(self._found) < most and self._collected + len(self._found) < self._given:
            self._enough.clear()
            self._enough.wait(LINGER)
        self._enough.clear()
        found = [self._found.popleft() for _ in range(min(most, len(self._found)))]
        self._collected += len(found)
        return pickle.dumps(found)


def brief(judgement: Judgement) -> Judgement:
    """Return a judgement with as much of its executions as a receipt shows."""
    findings = judgement.findings
    shown = msgspec.structs.replace(
        findings.shown,
        stdout=findings.shown.stdout[: MAX_OUTPUT + 1],
        stderr=findings.shown.stderr[: MAX_OUTPUT + 1],
        usage=findings.usage,
        build=None,
        files={},
        left={},
    )
    few = msgspec.structs.replace(findings, tests=(), executions=[shown])
    return msgspec.structs.replace(judgement, findings=few)


def _sendable(error: Exception) -> Exception:
    """Return an error that can be sent as it is, or what it said."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own
    except Exception:  # noqa: BLE001  whatever it is, it stays here
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
