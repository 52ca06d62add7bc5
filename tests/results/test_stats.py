"""The statistics against scipy and numpy, against the literature, and against chance itself."""

import math
import random
import time
from statistics import fmean, median, pvariance

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from proctor.results import stats
from proctor.results.stats import (
    MIN_TASKS,
    agresti_min,
    bootstrap_bca,
    clopper_pearson,
    compare_paired,
    mcnemar,
    regularized_beta,
    tasks_needed,
    unanimous,
    wilson,
)

COUNTS = [
    *((c, n) for n in (1, 2, 3, 5, 10, 17) for c in range(n + 1)),
    *((c, 164) for c in (0, 1, 2, 40, 82, 107, 163, 164)),
    *((c, 974) for c in (0, 1, 487, 973, 974)),
    *((c, 100_000) for c in (0, 1, 37, 50_000, 99_999, 100_000)),
]


def proportion_ci(c, n, method, level=0.95):
    return scipy.stats.binomtest(c, n).proportion_ci(level, method)


def paired(rng, tasks, *, gain, loss, keep):
    """Two runs with one sample a task: chances of a gain, of a loss, and of both passing."""
    first, second = {}, {}
    for task in map(str, range(tasks)):
        u = rng.random()
        first[task], second[task] = (
            (0, 1) if u < gain else (1, 0) if u < gain + loss else (1, 1) if u < keep else (0, 0)
        )
    return first, second


# Proportions


@pytest.mark.parametrize(("c", "n"), COUNTS)
def test_wilson_is_that_of_scipy(c, n):
    ours, theirs = wilson(c, n), proportion_ci(c, n, "wilson")
    assert ours.low == pytest.approx(theirs.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.high, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("c", "n"), COUNTS)
def test_clopper_pearson_is_that_of_scipy(c, n, level):
    ours, theirs = clopper_pearson(c, n, level=level), proportion_ci(c, n, "exact", level)
    assert ours.low == pytest.approx(theirs.low, abs=1e-10)
    assert ours.high == pytest.approx(theirs.high, abs=1e-10)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@given(n=st.integers(1, 2000), share=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_intervals_of_proportions_lie_in_bounds_and_around_the_proportion(interval, n, share):
    c = round(n * share)
    low, high = interval(c, n)
    assert 0 <= low <= c / n <= high <= 1
    assert low < high
    assert (low == 0) == (c == 0)
    assert (high == 1) == (c == n)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize(("c", "n"), [(0, 0), (-1, 5), (6, 5), (1, 0), (0, -3)])
def test_what_is_no_proportion_is_refused(interval, c, n):
    with pytest.raises(ValueError, match="no proportion"):
        interval(c, n)


def test_the_exact_interval_contains_wilsons_and_both_shrink_with_n():
    widths = []
    for n in (10, 100, 1000):
        exact, score = clopper_pearson(n // 2, n), wilson(n // 2, n)
        assert exact.low < score.low < score.high < exact.high
        widths.append(score.high - score.low)
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("n", [5, 20, 164])
def test_unanimous_tasks_at_0_or_1_get_the_exact_binomial_bound(n):
    assert unanimous(0.0, n) == pytest.approx(clopper_pearson(0, n))
    assert unanimous(1.0, n) == pytest.approx(clopper_pearson(n, n))
    assert unanimous(0.0, n).high == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-12)


def test_unanimous_tasks_in_between_get_an_interval_too():
    low, high = unanimous(0.5, 20)
    share = clopper_pearson(0, 20).high
    assert (low, high) == pytest.approx((0.5 - share / 2, 0.5 + share / 2))
    assert unanimous(0.0, 20, lowest=-1.0) == pytest.approx((-share, share))


# The incomplete beta function


@pytest.mark.parametrize("a", [0.3, 1, 2.5, 40, 1000, 50_000])
@pytest.mark.parametrize("b", [0.7, 1, 3, 165, 80_000])
def test_regularized_beta_is_that_of_scipy(a, b):
    mean, spread = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
    for x in (0.0, 1e-9, mean - 3 * spread, mean - spread, mean, mean + 2 * spread, 0.999, 1.0):
        if 0 <= x <= 1:
            assert regularized_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), abs=1e-10)


@given(st.floats(0.5, 500), st.floats(0.5, 500), st.floats(0.001, 0.999))
@settings(max_examples=200, deadline=None)
def test_the_quantile_is_the_inverse(a, b, share):
    x = stats._beta_quantile(a, b, share)
    assert x == pytest.approx(special.betaincinv(a, b, share), abs=1e-10)
    assert 0 <= x <= 1


# The bootstrap

SKEWED = [0, 0, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.5, 1.0, 1.0, 0.05, 0.0, 0.9]


@pytest.mark.parametrize("statistic", [fmean, pvariance])
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    "values", [SKEWED, [1 - x for x in SKEWED], [0.0] * 30 + [1.0], [0.5, 0.25, 0.75, 0.1, 0.2]]
)
def test_bca_is_that_of_scipy_on_the_same_replicates(values, level, statistic):
    drawn = stats._replicates(values, statistic, draws=1000, seed=1)

    def along(data, axis=-1):
        return np.apply_along_axis(statistic, axis, data)

    class Earlier:
        bootstrap_distribution = np.array(drawn)

    theirs = scipy.stats.bootstrap(
        (values,),
        along,
        n_resamples=0,
        bootstrap_result=Earlier,
        method="BCa",
        confidence_level=level,
    ).confidence_interval
    ours = stats._bca(values, drawn, statistic, level=level)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_a_statistic_that_no_single_value_moves_has_an_interval():
    values = [0.1, 0.8, 0.8, 0.8, 0.8, 0.9]
    assert stats._acceleration(values, median) == 0
    low, high = bootstrap_bca(values, median, draws=500)
    assert low <= 0.8 <= high


def test_the_whole_bootstrap_agrees_with_scipys_own_draws():
    rng = random.Random(5)
    values = [rng.betavariate(0.4, 0.8) for _ in range(120)]
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = bootstrap_bca(values)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.004)
    plain = np.percentile(stats._replicates(values, fmean, draws=10_000, seed=0), [2.5, 97.5])
    assert ours.low > plain[0]  # the data lean to the right, and so must the correction
    assert ours.high > plain[1]


def test_the_bootstrap_depends_on_the_seed_and_nothing_else():
    once = bootstrap_bca(SKEWED, draws=500, seed=3)
    random.seed(99)
    assert bootstrap_bca(SKEWED, draws=500, seed=3) == once
    assert bootstrap_bca(SKEWED, draws=500, seed=4) != once


def test_the_sequence_of_draws_is_pinned():
    # Other figures on another version of Python mean that published intervals no longer hold.
    drawn = stats._replicates([1.0, 2.0, 4.0, 8.0], sum, draws=6, seed=0)
    assert drawn == PINNED_DRAWS
    assert bootstrap_bca(SKEWED, draws=1000, seed=0) == pytest.approx(PINNED_BCA, abs=1e-12)


PINNED_DRAWS = [16.0, 16.0, 18.0, 18.0, 20.0, 32.0]
PINNED_BCA = (0.1642857142857143, 0.5623466814980215)


def test_values_that_are_all_alike_give_themselves():
    assert bootstrap_bca([0.25] * 7) == (0.25, 0.25)


@pytest.mark.parametrize(("values", "draws"), [([], 10), ([1.0, 0.0], 0)])
def test_the_bootstrap_refuses_nothing_to_draw_from(values, draws):
    with pytest.raises(ValueError, match="needs values"):
        bootstrap_bca(values, draws=draws)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_the_bootstrap_stays_among_the_values_and_around_the_mean(values, seed):
    low, high = bootstrap_bca(values, draws=50, seed=seed)
    assert low <= fmean(values) <= high
    assert min(values) - 1e-15 <= low  # the mean of equal values may be off by its last bit
    assert high <= max(values) + 1e-15
    assert 0 <= low <= high <= 1


def test_a_statistic_outside_all_its_replicates_still_has_an_interval():
    # No resample of distinct values has more distinct values than they do.
    low, high = bootstrap_bca(list(range(12)), lambda some: len(set(some)), draws=200)
    assert low <= high == 12


def test_quantiles_are_those_of_numpy():
    ordered = sorted(SKEWED)
    for share in (0.0, 0.025, 0.3, 0.5, 0.975, 1.0):
        assert stats.quantile(ordered, share) == pytest.approx(np.quantile(ordered, share))


def test_the_bootstrap_is_fast_enough():
    rng = random.Random(0)
    values = [rng.random() for _ in range(1000)]
    before = time.process_time()
    bootstrap_bca(values)
    assert time.process_time() - before < 10  # 1.6 s where this was written


# Coverage: a 95 % interval holds the truth about 95 % of the time


def coverage(intervals, truth):
    return fmean(low <= truth <= high for low, high in intervals)


@pytest.mark.parametrize("truth", [0.1, 0.5, 0.85])
def test_wilson_covers(truth):
    rng = random.Random(1)
    runs = (sum(rng.random() < truth for _ in range(164)) for _ in range(2000))
    assert 0.93 < coverage((wilson(c, 164) for c in runs), truth) < 0.975


@pytest.mark.parametrize("truth", [0.02, 0.3])
def test_clopper_pearson_covers_at_least_as_often_as_it_says(truth):
    held = sum(
        scipy.stats.binom.pmf(c, 80, truth)
        for c in range(81)
        if clopper_pearson(c, 80).low <= truth <= clopper_pearson(c, 80).high
    )
    assert 0.95 <= held < 1


def test_the_bootstrap_covers():
    rng = random.Random(2)
    intervals = []
    for run in range(300):
        chances = [rng.betavariate(0.5, 0.5) for _ in range(60)]
        shares = [sum(rng.random() < p for _ in range(5)) / 5 for p in chances]
        intervals.append(bootstrap_bca(shares, draws=600, seed=run))
    assert 0.915 < coverage(intervals, 0.5) < 0.98


@pytest.mark.parametrize(("gain", "loss"), [(0.05, 0.05), (0.12, 0.03), (0.02, 0.0)])
def test_agresti_min_covers(gain, loss):
    rng = random.Random(3)
    intervals = []
    for _ in range(1500):
        draws = [rng.random() for _ in range(164)]
        gained = sum(u < gain for u in draws)
        lost = sum(gain <= u < gain + loss for u in draws)
        intervals.append(agresti_min(gained, lost, 164))
    assert 0.93 < coverage(intervals, gain - loss) < 0.99


# Comparing two runs


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=150, deadline=None)
def test_mcnemar_is_the_binomial_test(gained, lost):
    theirs = scipy.stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(theirs, rel=1e-9)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


def test_mcnemar_is_right_far_out():
    assert mcnemar(50, 0) == pytest.approx(2 * 0.5**50)
    assert mcnemar(3000, 2000) == pytest.approx(scipy.stats.binomtest(3000, 5000).pvalue, rel=1e-8)


def test_one_sample_a_task_is_compared_exactly():
    first = {str(i): int(i < 60) for i in range(100)}
    second = {**first, "0": 0, **{str(i): 1 for i in range(60, 72)}}
    found = compare_paired(first, second)
    assert found.difference == pytest.approx(0.11)
    assert found.gained == tuple(str(i) for i in range(60, 72))
    assert found.lost == ("0",)
    assert (found.tasks, found.unpaired) == (100, 0)
    assert found.p_value == pytest.approx(scipy.stats.binomtest(1, 13).pvalue)
    assert found.low < 0.11 < found.high
    assert found.beyond_noise
    assert "mcnemar" in found.method


def test_the_interval_of_matched_pairs_is_the_published_formula():
    # Wald's on a table with half a task more in each of its four cells.
    b, c, n = 12.5, 1.5, 102
    middle, spread = (b - c) / n, math.sqrt((b + c) - (b - c) ** 2 / n) / n
    assert agresti_min(12, 1, 100) == pytest.approx(
        (middle - 1.959963985 * spread, middle + 1.959963985 * spread)
    )


def test_exchanging_the_runs_turns_everything_round():
    first, second = paired(random.Random(4), 50, gain=0.2, loss=0.1, keep=0.6)
    there, back = compare_paired(first, second), compare_paired(second, first)
    assert (there.difference, there.low, there.high) == pytest.approx(
        (-back.difference, -back.high, -back.low)
    )
    assert (there.gained, there.lost) == (back.lost, back.gained)
    assert there.p_value == back.p_value


def test_a_run_compared_with_itself_is_within_noise_and_still_has_an_interval():
    run = {str(i): i % 2 for i in range(40)}
    fractions = {str(i): i / 40 for i in range(40)}
    for scores in (run, fractions):
        found = compare_paired(scores, scores)
        assert (found.difference, found.p_value, found.beyond_noise) == (0, 1, False)
        assert found.low < 0 < found.high
        assert found.low == pytest.approx(-found.high)
        assert not found.gained
        assert not found.lost


def test_several_samples_a_task_are_compared_by_bootstrap():
    rng = random.Random(6)
    first = {str(i): rng.randrange(11) / 10 for i in range(80)}
    second = {task: min(1.0, score + rng.choice([0, 0.1, 0.2])) for task, score in first.items()}
    found = compare_paired(first, second, seed=1)
    changes = [second[task] - first[task] for task in first]
    assert found.difference == pytest.approx(fmean(changes))
    assert (found.low, found.high) == pytest.approx(bootstrap_bca(changes, seed=1))
    assert 0 < found.low < found.difference < found.high
    assert found.p_value < 0.001
    assert found.p_value >= scipy.stats.wilcoxon(changes).pvalue / 1000  # never 0 for want of draws
    assert found.method == "paired bootstrap (BCa, seed 1)"
    assert compare_paired(first, second, seed=1) == found


def test_the_bootstrap_p_value_is_near_that_of_the_t_test():
    rng = random.Random(7)
    changes = [rng.choice([-0.2, -0.1, 0, 0, 0.1, 0.2]) + 0.02 for _ in range(90)]
    first = {str(i): 0.5 for i in range(90)}
    second = {str(i): 0.5 + change for i, change in enumerate(changes)}
    expected = scipy.stats.ttest_1samp(changes, 0).pvalue
    assert 0.02 < expected < 0.9
    assert compare_paired(first, second).p_value == pytest.approx(expected, abs=0.03)


def test_a_change_that_is_the_same_on_all_tasks_is_no_bootstrap():
    first = {str(i): i / 20 for i in range(10)}
    found = compare_paired(first, {task: score + 0.5 for task, score in first.items()})
    assert found.low < 0.5 < found.high < 1
    steps = compare_paired(first, {task: (i + 2) / 20 for i, task in enumerate(first)})
    assert steps.low < 0  # no float knows that these are all a tenth
    assert steps.high > 0.1
    assert found.p_value == pytest.approx(2 * 0.5**10)
    assert "sign test" in found.method


def test_only_tasks_that_both_have_are_compared():
    first = {"a": 1, "b": 0, "c": 1, "d": 1, "e": 0, "f": 1}
    second = {"b": 1, "c": 1, "d": 1, "e": 0, "f": 1, "x": 0, "y": 0}
    found = compare_paired(first, second)
    assert (found.tasks, found.unpaired) == (5, 3)
    assert (found.gained, found.lost) == (("b",), ())
    with pytest.raises(ValueError, match="no task in common"):
        compare_paired({"a": 1}, {"b": 1})


@pytest.mark.parametrize(("score", "p_value"), [(1, 0.125), (0.5, None)])
def test_few_tasks_have_no_interval_and_say_why(score, p_value):
    tasks = [str(i) for i in range(MIN_TASKS - 1)]
    found = compare_paired(dict.fromkeys(tasks, 0), dict.fromkeys(tasks, score))
    assert (found.low, found.high) == (None, None)
    assert found.method == "no interval: 4 tasks, fewer than 5"
    assert found.p_value == (None if p_value is None else pytest.approx(p_value))
    assert not found.beyond_noise


def test_equal_runs_are_rarely_called_different():
    rng = random.Random(8)
    called = [
        compare_paired(*paired(rng, 100, gain=0.1, loss=0.1, keep=0.7)).beyond_noise
        for _ in range(800)
    ]
    assert fmean(called) <= 0.05  # the exact test is careful


# Power


def test_a_difference_of_one_point_needs_many_tasks():
    assert tasks_needed(0.01, p=0.5, rho=0.0) == pytest.approx(39_200, rel=0.01)
    assert tasks_needed(0.01, p=0.5, rho=0.5) == pytest.approx(19_600, rel=0.01)
    assert tasks_needed(0.01) == tasks_needed(0.01, p=0.5, rho=0.5)


def test_runs_that_go_together_and_larger_differences_need_fewer_tasks():
    needs = [tasks_needed(0.05, p=0.6, rho=rho) for rho in (-0.5, 0.0, 0.5, 0.9)]
    assert needs == sorted(needs, reverse=True)
    assert tasks_needed(0.1, p=0.6) < tasks_needed(0.05, p=0.6)
    assert tasks_needed(0.05, p=0.6, power=0.8) < tasks_needed(0.05, p=0.6, power=0.9)
    assert tasks_needed(0.05, p=0.6, level=0.9) < tasks_needed(0.05, p=0.6, level=0.95)


def test_the_direction_does_not_matter():
    assert tasks_needed(0.04, p=0.5, rho=0.3) == tasks_needed(-0.04, p=0.54, rho=0.3)


def test_a_correlation_that_cannot_be_is_the_highest_that_can():
    # From 0.5 to 0.6 a tenth of the tasks must change, however alike the runs are.
    assert tasks_needed(0.1, p=0.5, rho=1.0) == tasks_needed(0.1, p=0.5, rho=0.99)


def test_with_that_many_tasks_the_difference_is_seen_that_often():
    gain, loss, p = 0.15, 0.05, 0.5
    rho = (p * 0.4 + 0.6 * p - gain - loss) / (2 * math.sqrt(p * p * 0.6 * 0.4))
    tasks = tasks_needed(0.1, p=p, rho=rho)
    rng = random.Random(9)
    runs = (paired(rng, tasks, gain=gain, loss=loss, keep=0.65) for _ in range(1000))
    seen = fmean(compare_paired(*run).beyond_noise for run in runs)
    assert 0.72 < seen < 0.86  # 0.8 less what the exact test costs


@pytest.mark.parametrize(
    "arguments",
    [
        {"difference": 0.0},
        {"difference": 0.6, "p": 0.5},
        {"difference": -0.6, "p": 0.5},
        {"difference": 0.1, "p": 1.5},
        {"difference": math.nan},
        {"difference": 0.1, "rho": 2},
        {"difference": 0.1, "power": 1},
        {"difference": 0.1, "level": 0},
    ],
)
def test_nonsense_has_no_number_of_tasks(arguments):
    with pytest.raises(ValueError, match=r"differ|rho"):
        tasks_needed(**arguments)


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 30, 1000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_student_is_what_scipy_says(freedom: int, level: float) -> None:
    assert stats.student(freedom, level=level) == pytest.approx(
        scipy.stats.t.ppf((1 + level) / 2, freedom), rel=1e-9
    )


def test_a_ratio_over_equal_parts_is_a_mean() -> None:
    values = [3.0, 4.0, 5.0, 6.0, 9.0]
    found = stats.ratio_interval(values, [1.0] * 5)
    known = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found == pytest.approx((known.low, known.high))


def test_a_ratio_holds_the_truth_as_often_as_it_says() -> None:
    draw = random.Random(0)
    held = 0
    for _ in range(400):
        below = [draw.expovariate(1) + 0.1 for _ in range(40)]
        above = [2 * size + size * draw.gauss(0, 0.5) for size in below]
        low, high = stats.ratio_interval(above, below)
        held += low <= 2 <= high
    assert 0.92 < held / 400 < 0.98
