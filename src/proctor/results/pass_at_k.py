"""What a set of verdicts is worth: pass@k, and how sure we are of it."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec

from proctor.results.stats import DRAWS, MIN_TASKS, Interval, bootstrap_bca, unanimous, wilson


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the samples of one task."""

    task_id: str
    scored: int
    passed: int
    """How many of the scored ones are correct."""
    unscored: int = 0
    """Samples of which nothing is known; they are no failures."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A score with its 95 % interval."""

    value: float | None
    """None when no task could be counted, which is not a score of 0."""
    low: float | None
    high: float | None
    tasks: int
    """Tasks that the value is the mean of."""
    samples: int
    """Scored samples of those tasks."""
    unscored: int
    """Unscored samples of all tasks."""
    left_out: int = 0
    """Tasks that had too few scored samples."""
    method: str
    """How the interval was made, or why there is none."""


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that some of k samples is correct, drawn from n of which c are.

    That is 1 - C(n-c, k)/C(n, k), in integers, so it is off by one rounding at most. Anything
    that has no such chance, k > n above all, is a ValueError.
    """
    n, c, k = _integer("n", n), _integer("c", c), _integer("k", k)
    if not 0 <= c <= n:
        raise ValueError(f"c must be from 0 to n: {c} of {n} samples cannot be correct")
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n: {k} of {n} samples cannot be drawn")
    # c and k may change places; the smaller one makes smaller numbers.
    few, many = min(c, k), max(c, k)
    ways = math.comb(n, few)
    return (ways - math.comb(n - many, few)) / ways


def _integer(name: str, value: Any) -> int:
    """Take integers of any library, but neither booleans nor floats that happen to be whole."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"{name} must be an integer, not {value!r}")


def pass_at_k_estimator(samples: Iterable[Any], ks: Iterable[int]) -> dict[int, float]:
    """Return the mean pass@k over tasks, for each k.

    A task is a pair `(n, c)`, c of n samples being correct, or a list with one bool a sample;
    `samples` is a sequence of tasks, or maps their names to them. A plain list of bools is a
    single task. Raises ValueError for no tasks at all, and for a k above any task's n.
    """
    tasks = list(samples.values() if isinstance(samples, Mapping) else samples)
    if not tasks:
        raise ValueError("there are no samples to estimate from")
    if all(isinstance(task, bool) for task in tasks):
        tasks = [tasks]
    counts = [_counts(task) for task in tasks]
    return {k: fmean(pass_at_k(n, c, k) for n, c in counts) for k in ks}


def _counts(task: Any) -> tuple[int, int]:
    # Arrays become lists of Python's own booleans and integers.
    outcomes = task.tolist() if hasattr(task, "tolist") else task
    if isinstance(outcomes, Sequence) and not isinstance(outcomes, str):
        if all(isinstance(outcome, bool) for outcome in outcomes):
            return len(outcomes), sum(outcomes)
        if len(outcomes) == 2:  # noqa: PLR2004  a pair
            return outcomes[0], outcomes[1]
    raise ValueError(f"a task is a pair (n, c) or a list of bools, not {task!r}")


def default_ks(ns: Iterable[int]) -> list[int]:
    """Return those of 1, 10 and 100 that no task's number of samples, scored or not, is below."""
    fewest = min(ns, default=0)
    return [k for k in (1, 10, 100) if k <= fewest]


def estimate(tallies: Iterable[Tally], k: int, *, seed: int = 0) -> Estimate:
    """Return the mean pass@k over tasks with at least k scored samples, and its interval."""
    every = list(tallies)
    if _integer("k", k) < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    counted = [tally for tally in every if tally.scored >= k]
    values = [pass_at_k(tally.scored, tally.passed, k) for tally in counted]
    single = all(tally.scored == 1 for tally in counted)
    interval, method = _interval(values, single=single, seed=seed)
    return Estimate(
        value=fmean(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        tasks=len(counted),
        samples=sum(tally.scored for tally in counted),
        unscored=sum(tally.unscored for tally in every),
        left_out=len(every) - len(counted),
        method=method,
    )


def mean(values: Mapping[str, Sequence[float]], *, unscored: int, seed: int = 0) -> Estimate:
    """Return the mean over tasks of what its samples have, from 0 to 1, and its interval."""
    means = [fmean(of_task) for of_task in values.values() if of_task]
    interval, method = _interval(means, single=False, seed=seed)
    return Estimate(
        value=fmean(means) if means else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        tasks=len(means),
        samples=sum(map(len, values.values())),
        unscored=unscored,
        left_out=len(values) - len(means),
        method=method,
    )


def _interval(values: Sequence[float], *, single: bool, seed: int) -> tuple[Interval | None, str]:
    """Choose the interval of a mean over tasks.

    Where all tasks agree, the n of the exact bound is the number of tasks, however many samples
    each has: a task's pass@k is one unbiased draw, and that no task drew another value bounds
    how many would.
    """
    tasks = len(values)
    if tasks < MIN_TASKS:
        return None, f"no interval: {tasks} tasks, fewer than {MIN_TASKS}"
    if min(values) == max(values):
        return unanimous(values[0], tasks), "exact binomial: all tasks agree"
    if single:
        return wilson(round(sum(values)), tasks), "wilson"
    method = f"bootstrap over tasks (BCa, {DRAWS} draws, seed {seed})"
    return bootstrap_bca(values, seed=seed), method
