"""Proctor from Python: grade, grade_many, execute, evaluate.

The sandbox is opened at first use and belongs to the process: a forked worker (torch, Ray) opens
its own. All of it may be called from several threads.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks import load, tasks_file
from proctor.completion import Completion
from proctor.errors import InputError
from proctor.evaluation import Plan
from proctor.evaluation import evaluate as _evaluate
from proctor.models import open_model
from proctor.models.recorded import Recorded
from proctor.program import Program
from proctor.receipt import Receipt
from proctor.run import Grader, Options
from proctor.sandbox import Execution, Limits, Sandbox
from proctor.sandbox.choose import open_sandbox
from proctor.settings import default_workers, load_settings
from proctor.summary import Summary
from proctor.task import Task

_lock = threading.Lock()
_opened: dict[int, Sandbox] = {}
_graders: dict[tuple[int, Options], Grader] = {}
AHEAD = 8
"""How many samples a worker are taken before the first of them is due."""


def default_sandbox() -> Sandbox:
    """Return this process's sandbox, opened at first use."""
    with _lock:
        pid = os.getpid()
        if pid not in _opened:
            _opened.clear()
            _graders.clear()
            _opened[pid] = open_sandbox(load_settings().sandbox, sys.executable)
        return _opened[pid]


def _grader(options: Options) -> Grader:
    sandbox = default_sandbox()
    with _lock:
        key = (os.getpid(), options)
        if key not in _graders:
            _graders[key] = Grader(sandbox, options)
        return _graders[key]


def as_task(task: Task | Mapping[str, Any]) -> Task:
    """Take a task as a record or as a row of a tasks file."""
    if isinstance(task, Task):
        return task
    try:
        row = msgspec.convert(task, tasks_file.Row)
    except msgspec.ValidationError as error:
        raise InputError(f"task: {error}") from None
    return tasks_file.as_task(row)


def as_completion(task: Task, completion: Completion | str, sample: int = 0) -> Completion:
    """Take a completion as a record or as text."""
    if isinstance(completion, Completion):
        return completion
    return Completion(task_id=task.task_id, sample=sample, id=f"0_s{sample}", completion=completion)


def grade(
    task: Task | Mapping[str, Any], completion: Completion | str, options: Options | None = None
) -> Receipt:
    """Judge one completion of one task."""
    known = as_task(task)
    return _grader(options or Options(reuse=False)).grade(known, as_completion(known, completion))


def grade_many(
    samples: Iterable[tuple[Task | Mapping[str, Any], Completion | str]],
    options: Options | None = None,
) -> Iterator[Receipt]:
    """Judge a stream of (task, completion) pairs and yield receipts in the same order.

    Only a few samples are taken ahead of the one that is due, so the stream may be endless.
    """
    chosen = options or Options(reuse=False, workers=default_workers())
    grader = _grader(chosen)
    due: deque[Future[Receipt]] = deque()
    with ThreadPoolExecutor(chosen.workers, thread_name_prefix="grader") as pool:
        for number, (task, completion) in enumerate(samples):
            known = as_task(task)
            due.append(pool.submit(grader.grade, known, as_completion(known, completion, number)))
            if len(due) >= AHEAD * chosen.workers:
                yield due.popleft().result()
        while due:
            yield due.popleft().result()


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
    bounds = limits or Limits().with_seconds(timeout_s)
    return default_sandbox().run(program, bounds, stdin.encode("utf-8", "surrogatepass"))


def evaluate(
    benchmark: str,
    *,
    model: str = "reference",
    completions: str | Path | None = None,
    data: str | Path | None = None,
    out: str | Path | None = None,
    options: Options | None = None,
) -> Summary:
    """Run a benchmark by name or path, with a model or with recorded completions."""
    settings = load_settings()
    folder = None if settings.data is None else Path(settings.data)
    plan = Plan(
        benchmark=load(benchmark, None if data is None else Path(data), folder),
        model=open_model(model) if completions is None else Recorded(Path(completions)),
        options=options or Options(workers=default_workers()),
    )
    return _evaluate(plan, default_sandbox(), None if out is None else Path(out))
