"""State that all dialects of the service share: sandbox, queue, graders, benchmarks, bounds."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from proctor.benchmarks import TABLE, load, tasks_file
from proctor.client.schema import decode
from proctor.errors import InputError
from proctor.grading.engine import Engine, LocalEngine
from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.records.execution import SandboxFailed
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.records.task import Benchmark, Task
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import SHARE, host_memory
from proctor.server.keys import Key, Keys
from proctor.server.metrics import Metrics
from proctor.server.notebook_registry import NotebookRegistry
from proctor.server.queue import RequestQueue
from proctor.settings import Settings

MAX_BENCHMARKS = 16
MAX_GRADERS = 16
TASKS_BYTES = 64 * MIB
"""Size of the cache of tasks that came with requests."""
WAITING_PER_WORKER = 128
MAX_FAILURES = 5
"""Failures of the sandbox in a row after which the service reports itself as not ready."""
PROBE = Program(source="print(1)\n")
PROBE_SECONDS = 5.0


class ServiceLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How large anything in a request may be."""

    header_bytes: int = 16 * 1024
    body_bytes: int = 32 * MIB
    held_bytes: int = 512 * MIB
    """Of all requests together that are being answered."""
    file_bytes: int = 16 * MIB
    """Of all files of one request together."""
    files: int = 64
    completions: int = 1024
    connections: int = 1024
    read_seconds: float = 30.0
    """How long a request may take to arrive, and an answer to be read on."""
    idle_seconds: float = 600.0
    """How long a stream of lines may pause."""
    sessions: int = 512
    """Open notebooks of all together."""
    sessions_of_one: int = 256
    """Of one key; without keys, of everybody."""
    deadline_seconds: float = 3600.0
    """The longest that a request may wait for its answer."""


class Service:
    """One sandbox and the queue in front of it; safe for use by several threads."""

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        workers: int,
        engine: Engine | None = None,
        max_waiting: int | None = None,
        settings: Settings | None = None,
        keys: Sequence[Key] | None = None,
        bounds: ServiceLimits | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        """Without `keys`, requests need none. `max_waiting` defaults to 128 per worker.

        Without an `engine`, threads of this process judge programs. A program may use
        `memory_bytes`, by default its worker's share of the host's memory.
        """
        self.sandbox = sandbox
        self.engine = engine or LocalEngine(sandbox, workers)
        self.workers = workers
        self.settings = settings or Settings()
        self.bounds = bounds or ServiceLimits()
        self.keys = None if keys is None else Keys(keys)
        self.gate = RequestQueue(workers, max_waiting or WAITING_PER_WORKER * workers)
        self.metrics = Metrics()
        self.notebooks = NotebookRegistry(
            sandbox, self.bounds.sessions, self.bounds.sessions_of_one
        )
        self.held_bytes = 0
        """Size of the bodies of all requests in flight."""
        self._failures = 0
        self.draining = False
        """Whether the service is shutting down and rejects new work."""
        self.max_memory_bytes = memory_bytes or int(SHARE * host_memory() / workers)
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._graders: OrderedDict[Options, Grader] = OrderedDict()
        self._benchmarks: OrderedDict[str, tuple[Benchmark, Callable[[str], Task]]] = OrderedDict()
        self._tasks: OrderedDict[bytes, tuple[Task, int]] = OrderedDict()
        self._tasks_bytes = 0

    @property
    def max_seconds(self) -> float:
        """The longest time limit that a request may ask for."""
        return self.settings.max_seconds

    def grader(self, options: Options) -> Grader:
        """Return the grader with these options."""
        with self._lock:
            if options not in self._graders:
                self._graders[options] = Grader(self.engine, options)
                if len(self._graders) > MAX_GRADERS:
                    self._graders.popitem(last=False)
            self._graders.move_to_end(options)
            return self._graders[options]

    def benchmark(self, name: str) -> Benchmark:
        """Return a benchmark by its name, never by a path; the first time takes a while."""
        return self._loaded(name)[0]

    def _loaded(self, name: str) -> tuple[Benchmark, Callable[[str], Task]]:
        if name not in TABLE:
            raise InputError(f"benchmark {name[:80]!r}: known are {', '.join(TABLE)}")
        with self._loading:
            if name not in self._benchmarks:
                folder = None if self.settings.data is None else Path(self.settings.data)
                loaded = load(name, folder=folder)
                self._benchmarks[name] = loaded, loaded.finder()
                if len(self._benchmarks) > MAX_BENCHMARKS:
                    self._benchmarks.popitem(last=False)
            self._benchmarks.move_to_end(name)
            return self._benchmarks[name]

    @property
    def loaded(self) -> Sequence[Benchmark]:
        """The benchmarks loaded so far."""
        return [benchmark for benchmark, _ in list(self._benchmarks.values())]

    def task(self, benchmark: str, task_id: str) -> Task:
        """Return a task of a benchmark."""
        found, find = self._loaded(benchmark)
        known = found.aliases.get(task_id, task_id)
        try:
            return find(known)
        except KeyError:
            raise InputError(f"task_id {task_id[:80]!r}: there is none in {benchmark}") from None

    def known_task(self, text: bytes) -> Task | None:
        """Return a task of an earlier request from the cache."""
        return self._known(hashlib.sha256(text).digest())

    def _known(self, key: bytes) -> Task | None:
        with self._lock:
            if key not in self._tasks:
                return None
            self._tasks.move_to_end(key)
            return self._tasks[key][0]

    def inline_task(self, text: bytes) -> Task:
        """Read a task that came with a request, or take it from the cache."""
        key = hashlib.sha256(text).digest()
        known = self._known(key)
        if known is not None:
            return known
        try:
            task = tasks_file.as_task(decode(text, tasks_file.Row))
        except InputError as error:
            raise InputError(f"task: {error}") from None
        with self._lock:
            if key not in self._tasks:
                self._tasks[key] = task, len(text)
                self._tasks_bytes += len(text)
            while self._tasks_bytes > TASKS_BYTES and len(self._tasks) > 1:
                self._tasks_bytes -= self._tasks.popitem(last=False)[1][1]
        return task

    def note(self, *, failed: bool) -> None:
        """Count failures of the sandbox in a row."""
        self._failures = self._failures + 1 if failed else 0

    async def ready(self) -> bool:
        """Return True if the service can do work; probe a sandbox that failed repeatedly."""
        if self._failures >= MAX_FAILURES:
            execution = await self.gate.run(
                lambda: self.sandbox.run(PROBE, Limits()), wait_seconds=PROBE_SECONDS, same="probe"
            )
            self.note(failed=isinstance(execution.ending, SandboxFailed))
        return not self.draining and self._failures < MAX_FAILURES

    def close(self) -> None:
        """Stop the queue, the notebooks, the engine and the sandbox."""
        self.gate.close()
        self.notebooks.close()
        self.engine.close()
        self.sandbox.close()
