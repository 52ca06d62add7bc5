"""Intervals, the comparison of two runs, and how many tasks it takes; standard library only.

The task is what is drawn: a benchmark's tasks stand for all tasks of its kind, and the samples
of one task have that task in common. So every n in here is a number of tasks. Randomness comes
from `random.Random(seed).random()` alone, the one method whose sequence Python promises to keep.
"""

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, fmean
from typing import NamedTuple

import msgspec

LEVEL = 0.95
"""How often an interval holds the true value, if it does what it says."""

MIN_TASKS = 5
"""Below this many tasks an interval would say more about its method than about the model."""

DRAWS = 10_000
"""How many samples a bootstrap draws unless told otherwise."""

Statistic = Callable[[Sequence[float]], float]

_NORMAL = NormalDist()


class Interval(NamedTuple):
    """A lower and an upper bound."""

    low: float
    high: float


def wilson(passed: int, total: int, *, level: float = LEVEL) -> Interval:
    """Return the Wilson score interval of a proportion."""
    _check_counts(passed, total)
    z = _NORMAL.inv_cdf((1 + level) / 2)
    share = passed / total
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt((share * (1 - share) + z * z / (4 * total)) / total)
    scale = 1 + z * z / total
    return Interval(
        max(0.0, (centre - spread) / scale) if passed else 0.0,
        min(1.0, (centre + spread) / scale) if passed < total else 1.0,
    )


def clopper_pearson(passed: int, total: int, *, level: float = LEVEL) -> Interval:
    """Return the exact binomial interval of a proportion, which covers at least `level`."""
    _check_counts(passed, total)
    tail, failed = (1 - level) / 2, total - passed
    return Interval(
        _beta_quantile(passed, failed + 1, tail) if passed else 0.0,
        _beta_quantile(passed + 1, failed, 1 - tail) if failed else 1.0,
    )


def unanimous(value: float, tasks: int, *, lowest: float = 0.0, highest: float = 1.0) -> Interval:
    """Bound a mean over tasks whose values, all from `lowest` to `highest`, are all the same.

    None of the tasks differs, so the exact binomial bound limits the share of all tasks that
    would; each of those could have any value. With a value of 0 or 1 this is `clopper_pearson`.
    """
    share = clopper_pearson(0, tasks).high
    return Interval(value + share * (lowest - value), value + share * (highest - value))


def _check_counts(passed: int, total: int) -> None:
    if not 0 <= passed <= total or total == 0:
        raise ValueError(f"{passed} of {total} is no proportion")


def bootstrap_bca(
    values: Sequence[float],
    statistic: Statistic = fmean,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval:
    """Return the bias-corrected, accelerated bootstrap interval of a statistic of values."""
    if not values or draws < 1:
        raise ValueError("the bootstrap needs values and draws")
    if min(values) == max(values):
        return Interval(statistic(values), statistic(values))
    drawn = _replicates(values, statistic, draws=draws, seed=seed)
    return _bca(values, drawn, statistic, level=level)


def _replicates(
    values: Sequence[float], statistic: Statistic, *, draws: int, seed: int
) -> list[float]:
    """Return the statistic of `draws` samples, with replacement, of all the values; sorted."""
    draw, floor, size = random.Random(seed).random, math.floor, len(values)  # noqa: S311  no secret
    places = range(size)
    return sorted(statistic([values[floor(draw() * size)] for _ in places]) for _ in range(draws))


def _bca(
    values: Sequence[float], drawn: Sequence[float], statistic: Statistic, *, level: float
) -> Interval:
    """Return the interval that sorted replicates of a statistic of the values give.

    `fmean` rounds once, so replicates that tie with the observed value do so exactly.
    """
    observed = statistic(values)
    below = (bisect_left(drawn, observed) + bisect_right(drawn, observed)) / 2
    # Kept off 0 and 1, which have no finite quantile.
    bias = _NORMAL.inv_cdf(min(max(below, 0.5), len(drawn) - 0.5) / len(drawn))
    acceleration = _acceleration(values, statistic)
    low, high = (
        quantile(drawn, _NORMAL.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))
        for z in (_NORMAL.inv_cdf((1 - level) / 2), _NORMAL.inv_cdf((1 + level) / 2))
    )
    return Interval(min(low, observed), max(high, observed))


def _acceleration(values: Sequence[float], statistic: Statistic) -> float:
    """Return how fast the statistic's spread changes with its value, by the jackknife."""
    kept = list(values)
    without = [statistic(kept[:place] + kept[place + 1 :]) for place in range(len(kept))]
    if min(without) == max(without):
        return 0.0
    centre = fmean(without)
    widest = max(abs(centre - one) for one in without)
    deviations = [(centre - one) / widest for one in without]
    squares = math.fsum(one**2 for one in deviations)
    return math.fsum(one**3 for one in deviations) / (6 * squares * math.sqrt(squares))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, by straight lines between them."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How a second run did on the tasks of a first."""

    difference: float
    """Mean of the second minus mean of the first, over the tasks that both have."""
    low: float | None
    high: float | None
    p_value: float | None
    """How often runs that are equally good would differ at least this much."""
    tasks: int
    gained: tuple[str, ...]
    """Tasks on which the second run did better, in the first run's order."""
    lost: tuple[str, ...]
    """Tasks on which the second run did worse."""
    unpaired: int
    """Tasks that only one of the runs has; they say nothing here."""
    method: str
    """How interval and p-value were made, or why there is none."""

    @property
    def beyond_noise(self) -> bool:
        """Whether runs that are equally good would rarely differ this much."""
        return self.p_value is not None and self.p_value < 1 - LEVEL


def compare_paired(
    first: Mapping[str, float], second: Mapping[str, float], *, seed: int = 0
) -> Comparison:
    """Compare two runs task by task; each maps a task to its score, from 0 to 1.

    Where every score is 0 or 1, as with one sample a task: the exact McNemar test and the
    interval of Agresti and Min. Else a bootstrap of the differences.
    """
    shared = [task for task in first if task in second]
    if not shared:
        raise ValueError("the two runs have no task in common")
    # Rounded, so that from 0.2 to 0.3 is as far as from 0.5 to 0.6.
    changes = [round(second[task] - first[task], 12) for task in shared]
    gained = tuple(task for task, change in zip(shared, changes, strict=True) if change > 0)
    lost = tuple(task for task, change in zip(shared, changes, strict=True) if change < 0)
    binary = all(run[task] in (0, 1) for task in shared for run in (first, second))
    bounds, p_value, method = _judge_changes(
        changes, len(gained), len(lost), binary=binary, seed=seed
    )
    return Comparison(
        difference=fmean(changes),
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        p_value=p_value,
        tasks=len(shared),
        gained=gained,
        lost=lost,
        unpaired=len(first) + len(second) - 2 * len(shared),
        method=method,
    )


def _judge_changes(
    changes: Sequence[float], gained: int, lost: int, *, binary: bool, seed: int
) -> tuple[Interval | None, float | None, str]:
    tasks = len(changes)
    if tasks < MIN_TASKS:
        p_value = mcnemar(gained, lost) if binary else None
        return None, p_value, f"no interval: {tasks} tasks, fewer than {MIN_TASKS}"
    if binary:
        return agresti_min(gained, lost, tasks), mcnemar(gained, lost), "mcnemar, agresti-min"
    if min(changes) == max(changes):
        bounds = unanimous(changes[0], tasks, lowest=-1.0)
        return bounds, mcnemar(gained, lost), "sign test, exact binomial"
    drawn = _replicates(changes, fmean, draws=DRAWS, seed=seed)
    observed = fmean(changes)
    # Were the runs equally good, replicates would lie around 0 as they lie around the observed.
    extreme = sum(abs(one - observed) >= abs(observed) for one in drawn)
    bounds = _bca(changes, drawn, fmean, level=LEVEL)
    return bounds, (extreme + 1) / (len(drawn) + 1), f"paired bootstrap (BCa, seed {seed})"


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of that many changes for the better and the worse."""
    fewer, changed = min(gained, lost), gained + lost
    return min(1.0, 2 * regularized_beta(changed - fewer, fewer + 1, 0.5)) if changed else 1.0


def agresti_min(gained: int, lost: int, tasks: int, *, level: float = LEVEL) -> Interval:
    """Return the interval of a difference of paired proportions: Wald's, half a task a cell more.

    The halves keep it from closing to nothing when no task changed.
    """
    total, change = tasks + 2, gained - lost
    spread = math.sqrt(gained + lost + 1 - change * change / total)
    reach = _NORMAL.inv_cdf((1 + level) / 2) * spread
    return Interval(max(-1.0, (change - reach) / total), min(1.0, (change + reach) / total))


def tasks_needed(
    difference: float, *, p: float = 0.5, rho: float = 0.5, power: float = 0.8, level: float = LEVEL
) -> int:
    """Return how many tasks a paired comparison needs to see a difference, one sample each.

    `p` is the score of the first run, `p + difference` that of the second, and `rho` how much
    their outcomes go together over tasks; more than the two scores allow is taken as the most
    they allow. `power` is how often the difference will be seen, `1 - level` how often one is
    seen where there is none.
    """
    other = p + difference
    if not (0 <= p <= 1 and 0 <= other <= 1 and difference):
        raise ValueError(f"no two scores in [0, 1] differ by {difference} if one of them is {p}")
    if not (-1 <= rho <= 1 and 0 < power < 1 and 0 < level < 1):
        raise ValueError("rho is from -1 to 1, power and level between 0 and 1")
    joint = rho * math.sqrt(p * (1 - p) * other * (1 - other))
    changed = max(p * (1 - other) + other * (1 - p) - 2 * joint, abs(difference))
    reach = _NORMAL.inv_cdf((1 + level) / 2) * math.sqrt(changed)
    reach += _NORMAL.inv_cdf(power) * math.sqrt(changed - difference * difference)
    return math.ceil((reach / difference) ** 2)


def regularized_beta(a: float, b: float, x: float) -> float:
    """Return the distribution function of Beta(a, b) at x."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        # The fraction converges fast on the near side of the mean only.
        return 1 - regularized_beta(b, a, 1 - x)
    # Gamma functions by Stirling's formula: what is large in their logarithms cancels against
    # the powers of x and 1 - x on paper, so that it need not in floating point.
    power = a * math.log(x * (a + b) / a) + b * (math.log1p(-x) + math.log1p(a / b))
    rest = _stirling_rest(a + b) - _stirling_rest(a) - _stirling_rest(b)
    front = math.exp(power + rest) * math.sqrt(b / (math.tau * a * (a + b)))
    return front / _beta_fraction(a, b, x)


def _stirling_rest(z: float) -> float:
    """Return what Stirling's formula leaves of the logarithm of the gamma function."""
    if z < 15:  # noqa: PLR2004  where the series is good to 14 places
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - math.log(math.tau) / 2
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z * z)) / (z * z)) / (z * z)) / z


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return 1 + d1/(1 + d2/(1 + ...)) of the incomplete beta function, by Lentz's method."""
    fraction, above, below = 1.0, 1.0, 0.0
    for step in range(1, 100_000):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        above, below = 1 + term / above, 1 / (1 + term * below)
        fraction *= above * below
        if abs(above * below - 1) < 1e-15:  # noqa: PLR2004  a few units in the last place
            break
    return fraction


def _beta_quantile(a: float, b: float, share: float) -> float:
    """Return where the distribution function of Beta(a, b) reaches `share`, by halving."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if regularized_beta(a, b, middle) < share:
            low = middle
        else:
            high = middle
    return middle


def ratio_interval(
    above: Sequence[float], below: Sequence[float], *, level: float = LEVEL
) -> Interval:
    """Return the interval of a sum over a sum, both of which are drawn together.

    By linearization: what a draw has above beyond its share is what it adds to the error.
    """
    count, whole = len(above), math.fsum(below)
    ratio = math.fsum(above) / whole
    squares = math.fsum((a - ratio * b) ** 2 for a, b in zip(above, below, strict=True))
    error = math.sqrt(squares * count / (count - 1)) / whole
    reach = student(count - 1, level=level) * error
    return Interval(ratio - reach, ratio + reach)


def student(freedom: int, *, level: float = LEVEL) -> float:
    """Return how far Student's t strays from 0 that often, with so many degrees of freedom."""
    share = _beta_quantile(0.5, freedom / 2, level)
    return math.sqrt(freedom * share / (1 - share))
