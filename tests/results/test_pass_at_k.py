"""pass@k by its laws and by brute force; estimates by the rules that choose their interval."""

import itertools
import math
import random
import time
from fractions import Fraction
from statistics import fmean

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.results.pass_at_k import (
    Estimate,
    Tally,
    default_ks,
    estimate,
    pass_at_k,
    pass_at_k_estimator,
)
from proctor.results.stats import bootstrap_bca, clopper_pearson, wilson


@st.composite
def draws(draw, most=300):
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


def tallies(*counts, unscored=0):
    return [
        Tally(task_id=f"t/{i}", scored=n, passed=c, unscored=unscored)
        for i, (n, c) in enumerate(counts)
    ]


# pass@k


@pytest.mark.parametrize("n", range(1, 8))
def test_it_is_the_share_of_all_draws_that_hold_a_correct_sample(n):
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        drawn = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_at_k(n, c, k) == float(Fraction(sum(map(any, drawn)), len(drawn)))


@given(draws())
def test_it_is_the_formula_rounded_once(draw):
    n, c, k = draw
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == float(exact)


@given(draws())
def test_it_is_a_chance(draw):
    assert 0 <= pass_at_k(*draw) <= 1


@given(draws())
def test_it_grows_with_k_and_with_c(draw):
    n, c, k = draw
    if k < n:
        assert pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1)
    if c < n:
        assert pass_at_k(n, c, k) <= pass_at_k(n, c + 1, k)


@given(draws())
def test_the_ends(draw):
    n, c, k = draw
    assert pass_at_k(n, c, 1) == c / n
    assert pass_at_k(n, c, n) == (1 if c else 0)
    assert pass_at_k(n, 0, k) == 0
    assert pass_at_k(n, n, k) == 1
    assert (pass_at_k(n, c, k) == 0) == (c == 0)


@given(draws())
def test_it_is_one_where_any_draw_must_hold_a_correct_sample(draw):
    n, c, k = draw
    if n - c < k:
        assert pass_at_k(n, c, k) == 1.0


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [(200, 1, 100, 0.5), (5, 2, 2, 0.7), (10, 3, 5, 1 - 21 / 252), (4, 1, 4, 1.0), (3, 2, 2, 1.0)],
)
def test_known_values(n, c, k, value):
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-15)


def test_small_chances_do_not_drown():
    # 1 - product loses all digits here.
    assert pass_at_k(10**17, 1, 1) == 1e-17


@pytest.mark.parametrize(("c", "k"), [(1, 99_999), (50_000, 50_000), (300, 100), (99_000, 10)])
def test_it_is_fast_for_many_samples(c, k):
    before = time.process_time()
    value = pass_at_k(100_000, c, k)
    assert time.process_time() - before < 3  # 0.2 s at the worst
    assert 0 < value <= 1


@pytest.mark.parametrize(
    ("n", "c", "k", "why"),
    [
        (5, 3, 6, "k must be"),
        (5, 3, 0, "k must be"),
        (5, 3, -1, "k must be"),
        (0, 0, 1, "k must be"),
        (5, 6, 1, "c must be"),
        (5, -1, 1, "c must be"),
        (-1, 0, 1, "c must be"),
        (5.0, 3, 1, "n must be an integer"),
        (5, 3.0, 1, "c must be an integer"),
        (5, 3, 1.0, "k must be an integer"),
        (5, True, 1, "c must be an integer"),
        (True, 1, 1, "n must be an integer"),
        (5, 3, True, "k must be an integer"),
        ("5", 3, 1, "n must be an integer"),
        (5, None, 1, "c must be an integer"),
        (math.nan, 3, 1, "n must be an integer"),
    ],
)
def test_nonsense_is_refused_with_what_is_wrong(n, c, k, why):
    with pytest.raises(ValueError, match=why):
        pass_at_k(n, c, k)


def test_integers_of_numpy_are_integers():
    assert pass_at_k(np.int64(10), np.int32(3), np.uint8(1)) == 0.3


# The estimator


def test_pairs_and_lists_of_bools_are_tasks():
    expected = {1: fmean([0.5, 0.0, 1.0]), 2: fmean([1 - 1 / 6, 0.0, 1.0])}
    pairs = [(4, 2), (4, 0), (4, 4)]
    bools = [[True, False, True, False], [False] * 4, [True] * 4]
    assert pass_at_k_estimator(pairs, [1, 2]) == expected
    assert pass_at_k_estimator(bools, [1, 2]) == expected
    assert pass_at_k_estimator([pairs[0], bools[1], pairs[2]], (1, 2)) == expected
    assert pass_at_k_estimator(dict(enumerate(bools)), [1, 2]) == expected
    assert pass_at_k_estimator(np.array(bools), [1, 2]) == expected
    assert pass_at_k_estimator(np.array(pairs), [1, 2]) == expected
    assert pass_at_k_estimator(iter(pairs), iter([1, 2])) == expected


def test_two_bools_are_two_samples_and_two_integers_a_pair():
    assert pass_at_k_estimator([[True, False]], [1]) == {1: 0.5}
    assert pass_at_k_estimator([[1, 0]], [1]) == {1: 0.0}


def test_a_plain_list_of_bools_is_one_task():
    assert pass_at_k_estimator([True, False, False, False], [1, 2]) == {1: 0.25, 2: 0.5}


def test_tasks_count_alike_however_many_samples_they_have():
    assert pass_at_k_estimator([(1, 1), (100, 0)], [1]) == {1: 0.5}


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([], "no samples"),
        ({}, "no samples"),
        ([(5, 1), (3, 4)], "c must be"),
        ([(2, 1)], "k must be"),
        ([[True, 1, 0]], "a task is"),
        ([[1, 0, 1]], "a task is"),
        ([(True, 1)], "n must be an integer"),
        (["10"], "a task is"),
        ([3], "a task is"),
        ([[]], "k must be"),
    ],
)
def test_samples_that_make_no_sense_are_refused(samples, why):
    with pytest.raises(ValueError, match=why):
        pass_at_k_estimator(samples, [3])


@pytest.mark.parametrize(
    ("ns", "ks"),
    [
        ([], []),
        ([0], []),
        ([1, 1], [1]),
        ([9, 200], [1]),
        ([10, 99], [1, 10]),
        ([100, 101], [1, 10, 100]),
        ([200, 0], []),
    ],
)
def test_default_ks_are_those_that_every_task_can_answer(ns, ks):
    assert default_ks(ns) == ks
    assert default_ks(iter(ns)) == ks


# Estimates


def test_one_sample_a_task_has_wilsons_interval():
    found = estimate(tallies(*[(1, 1)] * 107, *[(1, 0)] * 57), 1)
    assert found.value == pytest.approx(107 / 164)
    assert (found.low, found.high) == wilson(107, 164)
    assert (found.tasks, found.samples, found.unscored, found.left_out) == (164, 164, 0, 0)
    assert found.method == "wilson"


def test_several_samples_a_task_have_a_seeded_bootstrap():
    rng = random.Random(1)
    counts = [(20, rng.randrange(21)) for _ in range(50)]
    found = estimate(tallies(*counts), 10, seed=7)
    values = [pass_at_k(n, c, 10) for n, c in counts]
    assert found.value == pytest.approx(fmean(values))
    assert (found.low, found.high) == bootstrap_bca(values, seed=7)
    assert (found.tasks, found.samples) == (50, 1000)
    assert "BCa" in found.method
    assert "seed 7" in found.method
    assert estimate(tallies(*counts), 10, seed=7) == found
    assert estimate(tallies(*counts), 10, seed=8) != found


def test_a_single_task_with_a_second_sample_makes_it_a_bootstrap():
    found = estimate(tallies((2, 1), *[(1, 1)] * 5, *[(1, 0)] * 5), 1)
    assert "bootstrap" in found.method


@pytest.mark.parametrize("n", [1, 10])
@pytest.mark.parametrize("k", [1, 5])
def test_tasks_that_agree_have_the_exact_bound_with_tasks_as_n(n, k):
    if k <= n:
        none, every = estimate(tallies(*[(n, 0)] * 30), k), estimate(tallies(*[(n, n)] * 30), k)
        assert (none.value, none.low) == (0, 0)
        assert none.high == pytest.approx(clopper_pearson(0, 30).high)
        assert (every.value, every.high) == (1, 1)
        assert every.low == pytest.approx(clopper_pearson(30, 30).low)
        assert none.method == every.method == "exact binomial: all tasks agree"


def test_pass_at_k_may_be_one_on_all_tasks_without_all_samples_passing():
    found = estimate(tallies(*[(10, 8), (10, 9)] * 10), 3)
    assert found.value == 1
    assert 0 < found.low < 1


def test_tasks_that_agree_on_something_in_between_have_an_interval_as_well():
    found = estimate(tallies(*[(2, 1)] * 20), 1)
    assert found.value == 0.5
    assert found.low < 0.45
    assert found.high > 0.55


@pytest.mark.parametrize("n", [1, 3])
def test_below_five_tasks_there_is_no_interval_and_a_reason(n):
    few = estimate(tallies((n, 1), (n, 0), (n, 1), (n, 1)), 1)
    assert few.value == pytest.approx(3 / 4 / n)
    assert (few.low, few.high) == (None, None)
    assert few.method == "no interval: 4 tasks, fewer than 5"
    assert estimate(tallies(*[(n, 1)] * 4, (n, 0)), 1).low is not None


def test_tasks_with_too_few_scored_samples_are_left_out_and_counted():
    found = estimate(tallies(*[(10, 5)] * 8, (9, 9), (0, 0), unscored=1), 10)
    assert (found.tasks, found.left_out) == (8, 2)
    assert found.samples == 80
    assert found.unscored == 10
    assert found.value == 1


def test_unscored_samples_are_no_failures():
    scored = estimate(tallies(*[(4, 2)] * 3, *[(4, 4)] * 3), 1)
    missing = estimate(tallies(*[(4, 2)] * 3, *[(4, 4)] * 3, unscored=50), 1)
    assert missing.value == scored.value
    assert missing.unscored == 300


@pytest.mark.parametrize("every", [[], tallies((3, 1), (0, 0))])
def test_nothing_to_count_is_no_score_of_zero(every):
    found = estimate(every, 5)
    assert (found.value, found.low, found.high, found.tasks) == (None, None, None, 0)
    assert found.left_out == len(every)
    assert "no interval" in found.method


@pytest.mark.parametrize("k", [0, -1, True, 1.0])
def test_an_estimate_refuses_nonsense(k):
    with pytest.raises(ValueError, match="k must be"):
        estimate([], k)


def test_a_tally_with_more_passed_than_scored_is_refused():
    with pytest.raises(ValueError, match="c must be"):
        estimate(tallies((3, 4)), 1)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12),
    st.integers(1, 4),
)
@settings(max_examples=15, deadline=None)
def test_bounds_lie_in_the_unit_interval_around_the_value(counts, k):
    found = estimate(tallies(*[(max(pair), min(pair)) for pair in counts]), k)
    assert found.tasks + found.left_out == len(counts)
    assert (found.low is None) == (found.tasks < 5)
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high


def test_the_intervals_cover():
    # Tasks are drawn from a population whose pass@2 is known: chances 0.1, 0.5 and 0.9.
    rng = random.Random(11)
    truth = fmean(1 - (1 - p) ** 2 for p in (0.1, 0.5, 0.9))
    held = []
    for run in range(40):
        chances = [rng.choice((0.1, 0.5, 0.9)) for _ in range(40)]
        counts = [(4, sum(rng.random() < p for _ in range(4))) for p in chances]
        found = estimate(tallies(*counts), 2, seed=run)
        held.append(found.low <= truth <= found.high)
    assert fmean(held) >= 0.85  # 0.95 less three standard deviations of forty runs


def test_records_are_frozen_and_become_json():
    found = estimate(tallies(*[(1, 1)] * 3, *[(1, 0)] * 3), 1)
    with pytest.raises(AttributeError):
        found.value = 1.0
    again = msgspec.json.decode(msgspec.json.encode(found), type=Estimate)
    assert again == found
    assert msgspec.to_builtins(found).keys() == {
        *("value", "low", "high", "tasks", "samples", "unscored", "left_out", "method")
    }
