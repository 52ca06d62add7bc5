"""Several runs of one benchmark, side by side: which is better, and whether that is noise.

Runs are compared task by task, on the tasks that are the same in both (same id, same digest). What
else was different, limits or comparator or walls, is named: it is not the model's merit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.records.receipt import Manifest
from proctor.records.verdict import Outcome
from proctor.results.pass_at_k import Estimate, default_ks, estimate, pass_at_k
from proctor.results.stats import LEVEL, Comparison, compare_paired, tasks_needed
from proctor.results.summary import check_ks, tally
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS, read_manifest

OWN = ("model", "sampling", "strategy", "samples", "completions_sha256", "prompts_sha256")
"""Fields of a manifest in which runs that are compared are meant to differ."""
POINT = 0.01
POWER_SCORES = (0.05, 0.95)
"""What a score is taken for at most when it is asked how many tasks a difference needs."""


class Line(msgspec.Struct, frozen=True):
    """What a comparison needs of a receipt."""

    task_id: str
    sample: int
    outcome: Outcome | None
    task_sha256: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One run among others."""

    run_dir: str
    model: str
    rank: int
    """Its place by the first k; runs that noise cannot tell apart share one."""
    complete: bool
    unscored: int
    pass_at_k: dict[str, Estimate]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """What a run did better or worse than another."""

    first: int
    second: int
    """Places in `Comparisons.runs`."""
    changed_tasks: int
    """Tasks of one name that are not the same in both; they are left out."""
    differs: dict[str, tuple[Any, Any]]
    """What else was not the same: fields of the manifests."""
    by_k: dict[str, Comparison]
    beyond_noise: dict[str, bool]
    """Whether a difference is one, all pairs that are looked at here considered (Holm)."""


class Comparisons(msgspec.Struct, frozen=True, kw_only=True):
    """All that several runs say about each other."""

    benchmark: str
    runs: Sequence[Side]
    pairs: Sequence[Pair]
    tasks: int
    """Tasks that all runs have."""
    needed: int
    """Tasks that it would take to see a difference of one point, one sample each."""
    seed: int
    schema: int = 1


class Run:
    """The outcomes of one run, task by task."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = read_manifest(path)
        self.digests: dict[str, str] = {}
        counts: dict[str, Counter[Outcome | None]] = {}
        sample_count = self.manifest.samples
        for line in read_journal(path / RECEIPTS, Line, lambda _, sample: sample < sample_count):
            self.digests[line.task_id] = line.task_sha256
            counts.setdefault(line.task_id, Counter())[line.outcome] += 1
        if not counts:
            raise InputError(f"{path}: there are no receipts in it yet, so nothing to compare")
        self.tallies = [tally(task_id, count) for task_id, count in sorted(counts.items())]

    @property
    def samples(self) -> int:
        """How many have a receipt."""
        return sum(one.scored + one.unscored for one in self.tallies)

    def scores(self, k: int) -> dict[str, float]:
        """Return pass@k of every task that has enough scored samples."""
        return {
            one.task_id: pass_at_k(one.scored, one.passed, k)
            for one in self.tallies
            if one.scored >= k
        }


def compare_runs(paths: Sequence[Path], *, ks: Sequence[int] = (), seed: int = 0) -> Comparisons:
    """Compare every run with every other."""
    runs = [Run(path) for path in paths]
    name = _common_benchmark(runs)
    every = [one.scored + one.unscored for run in runs for one in run.tallies]
    check_ks(ks, every)
    ks = ks or default_ks(every)
    pairs = _settle([_pair(runs, a, b, ks, seed) for a, b in combinations(range(len(runs)), 2)])
    estimates = [{str(k): estimate(run.tallies, k, seed=seed) for k in ks} for run in runs]
    ranks = _ranks([one[str(ks[0])].value or 0.0 for one in estimates], pairs, str(ks[0]))
    return Comparisons(
        benchmark=name,
        runs=[
            Side(
                run_dir=str(run.path),
                model=run.manifest.model,
                rank=rank,
                complete=run.samples == run.manifest.samples,
                unscored=sum(one.unscored for one in run.tallies),
                pass_at_k=figures,
            )
            for run, rank, figures in zip(runs, ranks, estimates, strict=True)
        ],
        pairs=pairs,
        tasks=len(set.intersection(*(set(run.digests) for run in runs))),
        needed=_needed(estimates[0][str(ks[0])]),
        seed=seed,
    )


def _common_benchmark(runs: Sequence[Run]) -> str:
    first = runs[0].manifest.benchmark
    for run in runs[1:]:
        if run.manifest.benchmark != first:
            raise InputError(
                f"{run.path} is a run of {run.manifest.benchmark}, {runs[0].path} one of {first}: "
                f"only runs of one benchmark can be compared"
            )
    return first


def _pair(runs: Sequence[Run], first: int, second: int, ks: Iterable[int], seed: int) -> Pair:
    one, other = runs[first], runs[second]
    changed = {
        task_id
        for task_id, digest in one.digests.items()
        if other.digests.get(task_id, digest) != digest
    }
    by_k = {}
    for k in ks:
        ours, theirs = (_without(run.scores(k), changed) for run in (one, other))
        if not ours.keys() & theirs.keys():
            raise InputError(
                f"{one.path} and {other.path} have no task in common with {k} scored samples"
            )
        by_k[str(k)] = compare_paired(ours, theirs, seed=seed)
    return Pair(
        first=first,
        second=second,
        changed_tasks=len(changed),
        differs=differences(one.manifest, other.manifest),
        by_k=by_k,
        beyond_noise={},
    )


def _without(scores: Mapping[str, float], tasks: set[str]) -> dict[str, float]:
    return {task: score for task, score in scores.items() if task not in tasks}


def differences(one: Manifest, other: Manifest) -> dict[str, tuple[Any, Any]]:
    """Return the fields in which two runs differ though that is not what is compared."""
    ours, theirs = _flat(one.identity()), _flat(other.identity())
    return {
        field: (ours.get(field), theirs.get(field))
        for field in sorted({**ours, **theirs})
        if field.partition(".")[0] not in OWN and ours.get(field) != theirs.get(field)
    }


def _flat(fields: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{above}{name}.")
        else:
            flat[above + name] = value
    return flat


def _settle(pairs: Sequence[Pair]) -> list[Pair]:
    """Say which differences are beyond noise: the more pairs, the rarer that must be by chance."""
    ks = list(pairs[0].by_k) if pairs else []
    settled: list[dict[str, bool]] = [{} for _ in pairs]
    for k in ks:
        p_values = [pair.by_k[k].p_value for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda place: _or_one(p_values[place]))
        still = True
        for tried, place in enumerate(order):
            still = still and _or_one(p_values[place]) < (1 - LEVEL) / (len(pairs) - tried)
            settled[place][k] = still
    return [
        msgspec.structs.replace(pair, beyond_noise=said)
        for pair, said in zip(pairs, settled, strict=True)
    ]


def _or_one(p_value: float | None) -> float:
    return 1.0 if p_value is None else p_value


def _ranks(values: Sequence[float], pairs: Sequence[Pair], k: str) -> list[int]:
    """Return places from the best down; what noise cannot tell from a place's best shares it."""
    apart = {frozenset((pair.first, pair.second)): pair.beyond_noise[k] for pair in pairs}
    ranks = [0] * len(values)
    best, rank = -1, 0
    for place, run in enumerate(sorted(range(len(values)), key=lambda run: -values[run])):
        if best < 0 or apart[frozenset((best, run))]:
            best, rank = run, place + 1
        ranks[run] = rank
    return ranks


def _needed(first: Estimate) -> int:
    low, high = POWER_SCORES
    score = min(max(first.value if first.value is not None else 0.5, low), high)
    return tasks_needed(POINT if score < high else -POINT, p=score)
