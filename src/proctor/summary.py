"""What a run found out, from its manifest and receipts alone."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.journal import read_journal
from proctor.score import Estimate, Tally, default_ks, estimate
from proctor.store import RECEIPTS, read_manifest
from proctor.verdict import OUTCOMES, Bucket, Outcome

SHOWN_UNFIT = 10


class Brief(msgspec.Struct, frozen=True):
    """The few fields of a receipt that a summary needs."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    detail: str
    judged: str

    def __post_init__(self) -> None:
        if OUTCOMES[self.bucket] is not self.outcome:
            raise ValueError(f"outcome {self.outcome} does not go with bucket {self.bucket}")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one run."""

    benchmark: str
    model: str
    tasks: int
    """Tasks with at least one sample."""
    samples: int
    passed: int
    unscored: int
    outcomes: dict[str, int]
    buckets: dict[str, int]
    judged: dict[str, int]
    unfit: dict[str, str] = {}
    """Tasks that nothing can be judged by, the first ones, and why."""
    pass_at_k: dict[str, Estimate]
    complete: bool
    """Whether every sample of the run has its receipt."""
    degraded: bool
    """Whether something is missing: unscored samples, or samples without a receipt."""
    sandbox: str
    isolated: bool
    run_dir: str
    seconds: float | None = None
    """How long it took, as far as this process saw it."""
    schema: int = 1


def summarize(
    run_dir: Path, *, ks: Sequence[int] = (), seed: int = 0, seconds: float | None = None
) -> Summary:
    """Read a run's receipts and sum them up."""
    manifest = read_manifest(run_dir)
    buckets: Counter[Bucket] = Counter()
    judged: Counter[str] = Counter()
    unfit: dict[str, str] = {}
    counts: dict[str, Counter[Outcome | None]] = {}
    for brief in read_journal(run_dir / RECEIPTS, Brief, lambda _, n: n < manifest.samples):
        buckets[brief.bucket] += 1
        judged[brief.judged] += 1
        if brief.bucket is Bucket.BENCHMARK and len(unfit) < SHOWN_UNFIT:
            unfit[brief.task_id] = brief.detail
        counts.setdefault(brief.task_id, Counter())[OUTCOMES[brief.bucket]] += 1
    tallies = [_tally(task_id, count) for task_id, count in sorted(counts.items())]
    samples, unscored = buckets.total(), sum(tally.unscored for tally in tallies)
    outcomes: Counter[Outcome] = Counter()
    for bucket, number in buckets.items():
        outcome = OUTCOMES[bucket]
        if outcome is not None:
            outcomes[outcome] += number
    return Summary(
        benchmark=manifest.benchmark,
        model=manifest.model,
        tasks=len(tallies),
        samples=samples,
        passed=buckets[Bucket.PASSED],
        unscored=unscored,
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        buckets={bucket: buckets[bucket] for bucket in Bucket if buckets[bucket]},
        judged=dict(sorted(judged.items())),
        unfit=unfit,
        pass_at_k=_estimates(tallies, ks, seed),
        complete=samples == manifest.samples,
        degraded=unscored > 0 or samples != manifest.samples,
        sandbox=manifest.enforcement.tier,
        isolated=manifest.enforcement.isolated,
        run_dir=str(run_dir),
        seconds=seconds,
    )


def _tally(task_id: str, count: Counter[Outcome | None]) -> Tally:
    unscored = count[None]
    return Tally(
        task_id=task_id,
        scored=count.total() - unscored,
        passed=count[Outcome.PASS],
        unscored=unscored,
    )


def _estimates(tallies: Sequence[Tally], ks: Sequence[int], seed: int) -> dict[str, Estimate]:
    """Estimate pass@k for the k that were asked for, else for those that all tasks allow."""
    ns = [tally.scored + tally.unscored for tally in tallies]
    check_ks(ks, ns)
    return {str(k): estimate(tallies, k, seed=seed) for k in ks or default_ks(ns)}


def check_ks(ks: Sequence[int], ns: Collection[int]) -> None:
    """Refuse a k that no task has enough samples for."""
    most = max(ns, default=0)
    for k in ks:
        if ns and k > most:
            raise InputError(f"--k {k}: no task has more than {most} samples")
