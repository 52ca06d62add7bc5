"""Proctor from Python: grade, grade_many, execute, evaluate.

The sandbox is opened at first use and belongs to the process: a forked worker (torch, Ray) opens
its own. All of it may be called from several threads.
"""

import math
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import TABLE, load, tasks_file
from proctor.completion import Completion
from proctor.errors import InputError
from proctor.evaluation import Plan
from proctor.evaluation import evaluate as _evaluate
from proctor.models import open_model
from proctor.models.recorded import Recorded
from proctor.program import Program
from proctor.receipt import Receipt
from proctor.run import Grader, Options, graders
from proctor.sandbox import Execution, Limits, Sandbox
from proctor.sandbox.choose import open_sandbox
from proctor.settings import default_workers, load_settings
from proctor.summary import Summary
from proctor.task import Task

AnyTask = Task | Mapping[str, Any]
Pair = tuple[AnyTask, Completion | str]
Pending = Future[Receipt]
AHEAD = 8
"""How many samples a worker are taken before the first of them is due."""


class _Process:
    """What belongs to this process and not to one that it forks."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.lock = threading.RLock()
        self.sandbox: Sandbox | None = None
        self.graders: dict[Options, Grader] = {}


_process = _Process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.renew)


def default_sandbox() -> Sandbox:
    """Return this process's sandbox, opened at first use."""
    with _process.lock:
        if _process.sandbox is None:
            settings = load_settings()
            _process.sandbox = open_sandbox(
                settings.sandbox, sys.executable, packages=settings.candidate_packages
            )
        return _process.sandbox


def _grader(options: Options) -> Grader:
    with _process.lock:
        if options not in _process.graders:
            _process.graders[options] = Grader(default_sandbox(), options)
        return _process.graders[options]


def as_task(task: AnyTask) -> Task:
    """Take a task as a record or as a row of a tasks file."""
    if isinstance(task, Task):
        return task
    try:
        return tasks_file.as_task(msgspec.convert(task, tasks_file.Row))
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"task: {error}") from None


def as_completion(task: Task, completion: Completion | str, sample: int = 0) -> Completion:
    """Take a completion as a record or as text."""
    if isinstance(completion, Completion):
        return completion
    return Completion(task_id=task.task_id, sample=sample, id=f"0_s{sample}", completion=completion)


def grade(task: AnyTask, completion: Completion | str, options: Options | None = None) -> Receipt:
    """Judge one completion of one task."""
    known = as_task(task)
    return _grader(options or Options(reuse=False)).grade(known, as_completion(known, completion))


def grade_many(samples: Iterable[Pair], options: Options | None = None) -> Iterator[Receipt]:
    """Judge a stream of (task, completion) pairs and yield receipts in the same order.

    Only a few samples are taken ahead of the one that is due, so the stream may be endless.
    """
    chosen = options or Options(reuse=False, workers=default_workers())
    grader = _grader(chosen)
    due: deque[Pending] = deque()
    pool = graders(chosen.workers)
    try:
        for future in _submitted(pool, grader, samples):
            due.append(future)
            if len(due) >= AHEAD * chosen.workers:
                yield due.popleft().result()
        while due:
            yield due.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: Executor, grader: Grader, samples: Iterable[Pair]) -> Iterator[Pending]:
    """Submit samples one by one; what ends the stream comes after the receipts that are due."""
    try:
        for number, (task, answer) in enumerate(samples):
            known = as_task(task)
            yield pool.submit(grader.grade, known, as_completion(known, answer, number))
    except Exception as error:  # noqa: BLE001  the caller gets it, in its turn
        failed: Pending = Future()
        failed.set_exception(error)
        yield failed


def execute(
    code: str,
    stdin: str = "",
    *,
    args: tuple[str, ...] = (),
    timeout_s: float = 3.0,
    limits: Limits | None = None,
) -> Execution:
    """Run one Python program and say what happened."""
    program = Program(source=code, args=args)
    bounds = limits or limits_of(timeout_s)
    return default_sandbox().run(program, bounds, stdin.encode("utf-8", "surrogatepass"))


def limits_of(timeout_s: float) -> Limits:
    """Return the usual limits with another time."""
    if not 0 < timeout_s < math.inf:
        raise InputError(f"timeout_s is {timeout_s}; it must be a number of seconds above 0")
    return Limits().with_seconds(timeout_s)


def evaluate(
    benchmark: str,
    *,
    model: str = "reference",
    completions: str | Path | None = None,
    data: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    partial: bool = False,
    ks: Sequence[int] = (),
    options: Options | None = None,
) -> Summary:
    """Run a benchmark by name or path, with a model or with recorded completions."""
    settings = load_settings()
    folder = None if settings.data is None else Path(settings.data)
    plan = Plan(
        benchmark=load(benchmark, None if data is None else Path(data), folder),
        model=open_model(model) if completions is None else Recorded(Path(completions)),
        options=options or Options(workers=default_workers(), doubt=benchmark not in TABLE),
        partial=partial,
        ks=ks,
    )
    return _evaluate(plan, default_sandbox(), None if out is None else Path(out), fresh=fresh)
