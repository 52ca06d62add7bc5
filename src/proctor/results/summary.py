"""What a run found out, from its manifest and receipts alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.records.completion import StopReason
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.pass_at_k import Estimate, Tally, default_ks, estimate
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS, read_manifest

Counts = dict[str, Counter[Outcome | None]]
"""Task → what became of its samples."""
SHOWN_UNFIT = 10


class SampleBrief(msgspec.Struct, frozen=True):
    """The few fields of a receipt that a summary needs."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    detail: str
    judged: str
    groups: dict[str, Bucket] = {}
    stop: StopReason = StopReason.STOP

    def __post_init__(self) -> None:
        if OUTCOMES[self.bucket] is not self.outcome:
            raise ValueError(f"outcome {self.outcome} does not go with bucket {self.bucket}")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run for one part of the tests, all parts before it included."""

    passed: int
    pass_at_k: dict[str, Estimate]


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
    cut_off: int = 0
    """Samples whose answer reached --max-tokens; they are judged as they are."""
    cut_off_passed: int = 0
    """Those of them that passed nevertheless."""
    unfit: dict[str, str] = {}
    """Tasks that nothing can be judged by, the first ones, and why."""
    missing: dict[str, int] = {}
    """Why other samples are unscored, the first reasons, and how many samples each."""
    pass_at_k: dict[str, Estimate]
    groups: dict[str, Part] = {}
    """The same for parts of the tests, as `base` and `base+plus`, where there are any."""
    without_compile_resource: dict[str, Estimate] = {}
    """pass@k without samples that the compiler ran out of memory for, where there are any."""
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


def failure_reasons(summary: Summary) -> list[str]:
    """Say what is missing in a run that is degraded."""
    found = []
    if summary.unscored:
        found.append(f"{summary.unscored} samples are unscored, not wrong")
    if not summary.complete:
        found.append("some samples have no receipt yet; run the same command again")
    return found


class SuiteSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of several runs that belong together."""

    suite: str
    model: str
    benchmarks: dict[str, Summary]
    """Those of each, by name."""
    tasks: int
    samples: int
    passed: int
    unscored: int
    outcomes: dict[str, int]
    pass_at_k: dict[str, Estimate]
    """Over the tasks of all of them together, each of which counts the same."""
    complete: bool
    degraded: bool
    run_dir: str
    """The folder that has one for each of them."""
    seconds: float | None = None
    schema: int = 1


def summarize(
    run_dir: Path, *, ks: Sequence[int] = (), seed: int = 0, seconds: float | None = None
) -> Summary:
    """Read a run's receipts and sum them up."""
    manifest = read_manifest(run_dir)
    buckets: Counter[Bucket] = Counter()
    judged: Counter[str] = Counter()
    cut_off: Counter[Bucket] = Counter()
    unfit: dict[str, str] = {}
    missing: Counter[str] = Counter()
    counts: Counts = {}
    compiled: Counts = {}
    parts: dict[str, Counts] = {}
    for brief in read_journal(run_dir / RECEIPTS, SampleBrief, lambda _, n: n < manifest.samples):
        buckets[brief.bucket] += 1
        judged[brief.judged] += 1
        cut_off[brief.bucket] += brief.stop is StopReason.LENGTH
        if brief.bucket is Bucket.BENCHMARK:
            if len(unfit) < SHOWN_UNFIT:
                unfit[brief.task_id] = brief.detail
        elif brief.outcome is None and (brief.detail in missing or len(missing) < SHOWN_UNFIT):
            missing[brief.detail] += 1
        _count(counts, brief.task_id, brief.outcome)
        starved = brief.bucket is Bucket.COMPILE_RESOURCE
        _count(compiled, brief.task_id, None if starved else brief.outcome)
        for name, outcome in _outcomes(brief):
            _count(parts.setdefault(name, {}), brief.task_id, outcome)
    tallies = _tallies(counts)
    samples, unscored = buckets.total(), sum(one.unscored for one in tallies)
    outcomes: Counter[Outcome] = Counter()
    for bucket, number in buckets.items():
        outcome = OUTCOMES[bucket]
        if outcome is not None:
            outcomes[outcome] += number
    pass_at_k = _estimates(tallies, ks, seed)
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
        cut_off=cut_off.total(),
        cut_off_passed=cut_off[Bucket.PASSED],
        unfit=unfit,
        missing=dict(missing),
        pass_at_k=pass_at_k,
        groups={name: _part(_tallies(part), pass_at_k, seed) for name, part in parts.items()},
        without_compile_resource=_part(_tallies(compiled), pass_at_k, seed).pass_at_k
        if buckets[Bucket.COMPILE_RESOURCE]
        else {},
        complete=samples == manifest.samples,
        degraded=unscored > 0 or samples != manifest.samples,
        sandbox=manifest.enforcement.tier,
        isolated=manifest.enforcement.isolated,
        run_dir=str(run_dir),
        seconds=seconds,
    )


def summarize_suite(
    suite: str, folder: Path, parts: Sequence[Summary], *, ks: Sequence[int] = (), seed: int = 0
) -> SuiteSummary:
    """Sum up runs; how long they took is what each says."""
    counts: Counts = {}
    for place, part in enumerate(parts):
        for brief in read_journal(Path(part.run_dir) / RECEIPTS, SampleBrief):
            _count(counts, f"{place} {brief.task_id}", brief.outcome)
    return SuiteSummary(
        suite=suite,
        model=parts[0].model,
        benchmarks={part.benchmark: part for part in parts},
        tasks=len(counts),
        samples=sum(part.samples for part in parts),
        passed=sum(part.passed for part in parts),
        unscored=sum(part.unscored for part in parts),
        outcomes={outcome: sum(part.outcomes[outcome] for part in parts) for outcome in Outcome},
        pass_at_k=_estimates(_tallies(counts), ks, seed),
        complete=all(part.complete for part in parts),
        degraded=any(part.degraded for part in parts),
        run_dir=str(folder),
        seconds=round(sum(part.seconds or 0.0 for part in parts), 3),
    )


def _count(counts: Counts, task_id: str, outcome: Outcome | None) -> None:
    counts.setdefault(task_id, Counter())[outcome] += 1


def _outcomes(brief: SampleBrief) -> Iterator[tuple[str, Outcome | None]]:
    """Yield what became of each part of the tests together with those before it."""
    name = ""
    outcome: Outcome | None = Outcome.PASS
    for group, bucket in brief.groups.items():
        name = f"{name}+{group}" if name else group
        outcome = OUTCOMES[bucket] if outcome is Outcome.PASS else outcome
        yield name, outcome


def _part(tallies: Sequence[Tally], ks: Iterable[str], seed: int) -> Part:
    return Part(
        passed=sum(one.passed for one in tallies),
        pass_at_k={k: estimate(tallies, int(k), seed=seed) for k in ks},
    )


def _tallies(counts: Counts) -> list[Tally]:
    return [tally(task_id, count) for task_id, count in sorted(counts.items())]


def tally(task_id: str, count: Counter[Outcome | None]) -> Tally:
    """Return what became of a task's samples."""
    unscored = count[None]
    return Tally(
        task_id=task_id,
        scored=count.total() - unscored,
        passed=count[Outcome.PASS],
        unscored=unscored,
    )


def _estimates(tallies: Sequence[Tally], ks: Sequence[int], seed: int) -> dict[str, Estimate]:
    """Estimate pass@k for the k that were asked for, else for those that all tasks allow."""
    ns = [one.scored + one.unscored for one in tallies]
    check_ks(ks, ns)
    return {str(k): estimate(tallies, k, seed=seed) for k in ks or default_ks(ns)}


def check_ks(ks: Sequence[int], ns: Collection[int]) -> None:
    """Refuse a k that no task has enough samples for."""
    max_samples = max(ns, default=0)
    for k in ks:
        if ns and k > max_samples:
            raise InputError(f"--k {k}: no task has more than {max_samples} samples")
