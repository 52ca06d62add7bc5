"""Proctor from Python: grade, grade_many, execute, evaluate.

Samples are graded by threads that belong to the process, as many as there are processors: however
many callers there are, no more candidates run at once. They and the sandbox come into being at
first use; a forked worker (torch, Ray) has its own. All of it may be called from several threads,
from asyncio, from a notebook.
"""

import atexit
import hashlib
import math
import os
import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.benchmarks import TABLE, load, tasks_file
from proctor.errors import HostError, InputError
from proctor.grading.engine import grader_threads
from proctor.grading.evaluate import Plan
from proctor.grading.evaluate import evaluate as _evaluate
from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.grading.ray.engine import RayEngine, open_ray_engine
from proctor.grading.ray.worker import WorkerSetup
from proctor.grading.stream import GradingStream
from proctor.languages import get_language
from proctor.models import RecordedModel, recorded_model
from proctor.models.generated import GenerativeModel, open_model
from proctor.models.providers import ProviderRequest, provider_of
from proctor.models.recorded import RecordedSamples
from proctor.records.completion import Completion, Sampling
from proctor.records.execution import Execution
from proctor.records.limits import DEFAULT_SECONDS, MIB, Limits
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.records.task import Task
from proctor.records.verdict import Unscored
from proctor.results.summary import Summary
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import admit_workers
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import Settings, default_workers, load_settings, server_of

AnyTask = Task | Mapping[str, Any]
Pair = tuple[AnyTask, Completion | str]
ROWS_BYTES = 64 * MIB
"""How much of tasks that came as mappings is kept, in case they come again."""


class _Process:
    """What belongs to this process and not to one that it forks."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.lock = threading.RLock()
        self.sandbox: Sandbox | None = None
        self.graders: dict[Options, Grader] = {}
        self.workers: int | None = None
        self.pools: dict[int, Executor] = {}
        self.rows = _Rows()

    def close(self) -> None:
        """End all boxes, so that nobody is left to reap them."""
        if self.sandbox is not None:
            self.sandbox.close()


class _Rows:
    """Tasks made of mappings; one that comes again, as a group's prompt does, is not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: OrderedDict[bytes, tuple[Task, int]] = OrderedDict()
        self._bytes = 0

    def task(self, row: Mapping[str, Any]) -> Task:
        """Return the task that a row is; a row is known by its content, so it may be changed."""
        try:
            content = pickle.dumps(row)
        except Exception:  # noqa: BLE001  it can be anything, and whether it is a task is said below
            return _read(row)
        key = hashlib.sha256(content).digest()
        with self._lock:
            if key in self._tasks:
                self._tasks.move_to_end(key)
                return self._tasks[key][0]
        task = _read(row)
        with self._lock:
            if key not in self._tasks:
                self._tasks[key] = task, len(content)
                self._bytes += len(content)
            while self._bytes > ROWS_BYTES and len(self._tasks) > 1:
                self._bytes -= self._tasks.popitem(last=False)[1][1]
        return task


_process = _Process()
atexit.register(_process.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.renew)


def default_sandbox() -> Sandbox:
    """Return this process's sandbox, opened at first use."""
    with _process.lock:
        if _process.sandbox is None:
            settings = load_settings()
            _process.sandbox = open_sandbox(
                settings.sandbox,
                sys.executable,
                packages=settings.candidate_packages,
            )
        return _process.sandbox


def usual_workers() -> int:
    """Return how many samples this process grades at once if nobody says."""
    if _process.workers is None:
        fitting = max(1, admit_workers(Limits().memory_bytes))
        _process.workers = load_settings().workers or min(default_workers(), fitting)
    return _process.workers


def _grader(options: Options) -> Grader:
    with _process.lock:
        if options not in _process.graders:
            _process.graders[options] = Grader(default_sandbox(), options)
        return _process.graders[options]


def _pool(workers: int | None = None) -> Executor:
    """Return this process's threads that grade, so many or the usual number."""
    wanted = workers or usual_workers()
    # no lock: an event loop must not wait here for another thread that opens the sandbox
    return _process.pools.get(wanted) or _process.pools.setdefault(wanted, grader_threads(wanted))


def as_task(task: AnyTask) -> Task:
    """Take a task as a record or as a row of a tasks file."""
    return task if isinstance(task, Task) else _process.rows.task(task)


def _read(row: Mapping[str, Any]) -> Task:
    try:
        return tasks_file.as_task(msgspec.convert(row, tasks_file.Row))
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"task: {error}") from None


def as_completion(task: Task, completion: Completion | str, sample: int = 0) -> Completion:
    """Take a completion as a record or as text."""
    if isinstance(completion, Completion):
        return completion
    return Completion(task_id=task.task_id, sample=sample, id=f"0_s{sample}", completion=completion)


def grade(task: AnyTask, completion: Completion | str, options: Options | None = None) -> Receipt:
    """Judge one completion of one task."""
    return submit(task, completion, options).result()


def submit(
    task: AnyTask, completion: Completion | str, options: Options | None = None
) -> Future[Receipt]:
    """Begin to judge one completion; the future may be waited for, or awaited when wrapped."""
    known = as_task(task)
    chosen = options or Options(reuse=False)
    return _pool().submit(_grade, chosen, known, as_completion(known, completion))


def _grade(options: Options, task: Task, completion: Completion) -> Receipt:
    grader = _grader(options)
    try:
        return grader.grade(task, completion)
    except HostError as error:  # a trainer goes on without this sample
        return grader.unjudged(task, completion, Unscored(reason=str(error)))


def grade_many(
    samples: Iterable[Pair] | AsyncIterable[Pair], options: Options | None = None
) -> GradingStream[Pair]:
    """Judge a stream of (task, completion) pairs and yield receipts in the same order.

    Iterate over it by `for`, or by `async for` where a loop must not be blocked; then the samples
    may come asynchronously, too. Only a few are taken ahead of those that are being judged, so
    the stream may be endless.
    """
    chosen = options or Options(reuse=False, workers=usual_workers())
    pool = _pool(chosen.workers)

    def begin(number: int, sample: Pair) -> Future[Receipt]:
        task, answer = as_task(sample[0]), sample[1]
        return pool.submit(_grade, chosen, task, as_completion(task, answer, number))

    return GradingStream(samples, begin, chosen.workers)


def execute(
    code: str,
    stdin: str = "",
    *,
    args: tuple[str, ...] = (),
    language: str = "python",
    timeout_s: float = DEFAULT_SECONDS,
    limits: Limits | None = None,
) -> Execution:
    """Run one program and say what happened."""
    program = Program(source=code, language=get_language(language).name, args=args)
    bounds = limits or limits_of(timeout_s)
    given = stdin.encode("utf-8", "surrogatepass")
    return _pool().submit(lambda: default_sandbox().run(program, bounds, given)).result()


def limits_of(timeout_s: float) -> Limits:
    """Return the usual limits with another time."""
    if not 0 < timeout_s < math.inf:
        raise InputError(f"timeout_s is {timeout_s}; it must be a number of seconds above 0")
    return Limits().with_seconds(timeout_s)


def evaluate(
    benchmark: str,
    *,
    model: str = "reference",
    sampling: Sampling | None = None,
    completions: str | Path | None = None,
    data: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    partial: bool = False,
    ks: Sequence[int] = (),
    seconds: float = math.inf,
    options: Options | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
) -> Summary:
    """Run a benchmark by name or path, with a model or with recorded completions.

    With `engine="ray"` it is judged on a Ray cluster: the one at `address`, the one that this
    process is part of, or one that is started for it.
    """
    if address is not None and engine != "ray":
        raise InputError(f"address {address}: it needs engine='ray'")
    settings = load_settings()
    folder = None if settings.data is None else Path(settings.data)
    loaded = load(benchmark, None if data is None else Path(data), folder)
    answers = _open(model, settings) if completions is None else RecordedSamples(Path(completions))
    plan = Plan(
        benchmark=loaded,
        model=answers,
        sampling=sampling or Sampling(),
        options=options
        or Options(workers=usual_workers(), confirm_failures=benchmark not in TABLE),
        partial=partial,
        ks=ks,
        seconds=seconds,
    )
    place = None if out is None else Path(out)
    try:
        if engine == "local":
            return _evaluate(plan, default_sandbox(), place, fresh=fresh)
        with closing(_cluster(plan, settings, address)) as cluster:
            return _evaluate(plan, cluster, place, fresh=fresh)
    finally:
        if isinstance(answers, GenerativeModel):
            answers.close()


def _cluster(plan: Plan, settings: Settings, address: str | None) -> RayEngine:
    """Open a cluster with the sandboxes that a plan needs."""
    setup = WorkerSetup(sandbox=settings.sandbox, packages=settings.candidate_packages)
    return open_ray_engine(setup, address=address, benchmark=plan.benchmark)


def _open(name: str, settings: Settings) -> RecordedModel | GenerativeModel:
    """Return the completions that a name means, asked for where the settings say."""
    there = recorded_model(name)
    if there is not None:
        return there
    provider, _ = provider_of(name)
    url, key = server_of(provider, settings)
    return open_model(name, ProviderRequest(url=url, key=key))
