"""What stands behind a run's figures: its slowest tasks, exceptions, and parts by label."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.axes.measure import Axes, read_axes
from proctor.records.execution import Usage
from proctor.records.limits import Limits
from proctor.records.receipt import Manifest
from proctor.records.verdict import Outcome
from proctor.results.failures import failure_kind
from proctor.results.pass_at_k import Estimate, estimate
from proctor.results.summary import tally
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS, read_manifest

SLOWEST, EXCEPTIONS, LABELS = 10, 10, 50
"""How many of each are told."""
MAX_KINDS = 10_000


class Looked(msgspec.Struct, frozen=True):
    """What is read of a receipt."""

    task_id: str
    sample: int
    outcome: Outcome | None
    detail: str
    usage: Usage
    limits: Limits
    labels: Sequence[str] = ()
    notes: Sequence[str] = ()
    attempts: int = 1
    reused_from: int | None = None


class Slow(msgspec.Struct, frozen=True, order=True):
    """A task and its slowest sample."""

    cpu_seconds: float
    task_id: str
    sample: int
    limit_seconds: float


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """The rest of a report."""

    manifest: Manifest
    slowest: Sequence[Slow]
    exceptions: Mapping[str, int]
    """Exceptions that samples failed with, the most common first."""
    by_label: Mapping[str, Estimate]
    """pass@1 of the tasks with one difficulty or tag."""
    limits: Sequence[Limits]
    """What samples were held to, the most common first."""
    notes: Mapping[str, int]
    retried: int
    """Samples that took more than one attempt, which was our fault."""
    reused: int
    """Samples whose verdict is that of an identical program."""
    cpu_seconds: float
    """Processor time of all programs that were run."""
    axes: Axes | None = None
    """What `proctor axes` found, all but single samples; None if nobody asked since."""
    schema: int = 1


def compute_details(run_dir: Path, *, seed: int = 0) -> Details:
    """Read a run's receipts once more for what a summary leaves out."""
    manifest = read_manifest(run_dir)
    slow: dict[str, Slow] = {}
    exceptions: Counter[str] = Counter()
    limits: Counter[Limits] = Counter()
    notes: Counter[str] = Counter()
    parts: dict[str, dict[str, Counter[Outcome | None]]] = defaultdict(dict)
    retried = reused = 0
    seconds = 0.0
    for one in read_journal(run_dir / RECEIPTS, Looked, lambda _, n: n < manifest.samples):
        limits[one.limits] += 1
        notes.update(one.notes)
        retried += one.attempts > 1
        reused += one.reused_from is not None
        if one.reused_from is None:
            seconds += one.usage.cpu_seconds
        _keep_slowest(slow, one)
        if one.outcome not in (None, Outcome.PASS):
            exception = failure_kind(one.detail)[0]
            if exception is not None and (exception in exceptions or len(exceptions) < MAX_KINDS):
                exceptions[exception] += 1
        for label in one.labels:
            parts[label].setdefault(one.task_id, Counter())[one.outcome] += 1
    return Details(
        manifest=manifest,
        slowest=heapq.nlargest(SLOWEST, slow.values()),
        exceptions=dict(sorted(exceptions.items(), key=_most_first)[:EXCEPTIONS]),
        by_label={name: _estimate(parts[name], seed) for name in sorted(parts)[:LABELS]},
        limits=[found for found, _ in limits.most_common(SLOWEST)],
        notes=dict(sorted(notes.items())),
        retried=retried,
        reused=reused,
        cpu_seconds=round(seconds, 3),
        axes=_axes(run_dir, limits.total()),
    )


def _axes(run_dir: Path, receipts: int) -> Axes | None:
    """Return a run's axes, unless it has gone on since they were measured."""
    axes = read_axes(run_dir)
    if axes is None or axes.samples != receipts:
        return None
    return msgspec.structs.replace(axes, details=())


def _keep_slowest(slow: dict[str, Slow], one: Looked) -> None:
    known = slow.get(one.task_id)
    if known is None or one.usage.cpu_seconds > known.cpu_seconds:
        slow[one.task_id] = Slow(
            one.usage.cpu_seconds, one.task_id, one.sample, one.limits.cpu_seconds
        )


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _estimate(tasks: Mapping[str, Counter[Outcome | None]], seed: int) -> Estimate:
    tallies = [tally(task_id, count) for task_id, count in sorted(tasks.items())]
    return estimate(tallies, 1, seed=seed)
