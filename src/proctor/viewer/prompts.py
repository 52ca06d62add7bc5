"""Recover the prompts of a run, which records only their digests."""

import threading
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from proctor.benchmarks import TABLE, load
from proctor.errors import InputError, ProctorError
from proctor.models.prompting import Strategy, TestsShown, render_prompt
from proctor.records.receipt import Manifest, Receipt
from proctor.records.task import Benchmark, Task

MAX_BYTES = 64 << 20
"""Maximum size of a benchmark's file; reading a larger one is too slow for a page."""
KEPT = 4


class RecoveredPrompt(NamedTuple):
    """The prompt of a task, recovered from the benchmark's file."""

    text: str
    exact: bool
    """Whether the digest proves that the model was shown this; else it is the task's text."""


class Prompts:
    """Benchmarks by the manifests of their runs; safe for use by several threads."""

    def __init__(self) -> None:
        self._known: dict[str, Benchmark | str] = {}
        self._lock = threading.Lock()

    def find(
        self, manifest: Manifest, receipt: Receipt, asked: str | None
    ) -> RecoveredPrompt | str:
        """Return the prompt, or why it is not known; `asked` is its digest."""
        with self._lock:
            benchmark = self._known.get(manifest.benchmark_sha256)
            if benchmark is None:
                benchmark = self._known[manifest.benchmark_sha256] = _load(manifest)
                if len(self._known) > KEPT:
                    self._known.pop(next(iter(self._known)))
            if isinstance(benchmark, str):
                return benchmark
            if receipt.task_id not in set(benchmark.ids):
                return f"{manifest.source} has no such task"
            task = benchmark.finder()(receipt.task_id)
        if not _is_same(task, receipt):
            return f"the task in {manifest.source} is not the one that was judged"
        return _prompt(task, manifest, asked)


def _load(manifest: Manifest) -> Benchmark | str:
    path = Path(manifest.source)
    try:
        if not path.is_file():
            return f"{manifest.source} is not on this machine, or not seen from this folder"
        if path.stat().st_size > MAX_BYTES:
            return f"{manifest.source} is too large to look into it for a page"
        if manifest.benchmark in TABLE:
            return load(manifest.benchmark, data=path)
        return load(str(path))
    except (ProctorError, OSError, ValueError) as error:
        return str(error)


def _prompt(task: Task, manifest: Manifest, asked: str | None) -> RecoveredPrompt:
    """Render the task with every prompt strategy until the digest matches."""
    for strategy, chat, shown in product(get_args(Strategy), (False, True), get_args(TestsShown)):
        if asked is None or strategy != manifest.strategy:
            continue
        try:
            prompt = render_prompt(task, strategy, chat=chat, shown=shown)
        except InputError:  # not for models of this kind
            continue
        if prompt.sha256 == asked:
            return RecoveredPrompt(prompt.text, exact=True)
    return RecoveredPrompt(task.prompt, exact=False)


def _is_same(task: Task, receipt: Receipt) -> bool:
    """Return True if a task is the one that was judged, whatever its limits."""
    limited = msgspec.structs.replace(task, limits=receipt.limits)
    return receipt.task_sha256 in (task.sha256, limited.sha256)
