"""The one table of outcomes, and how results of tests become a verdict."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.records.verdict import (
    OUTCOMES,
    PRECEDENCE,
    TIMEOUTS,
    Bucket,
    Failed,
    Outcome,
    Passed,
    Unscored,
    decide,
    outcome_of,
)
from proctor.records.verdict import TestResult as Result

TABLE = """
pass: passed
assertion_fail: wrong_answer test_exception
syntax_error: syntax compile compile_timeout compile_resource
timeout: cpu_time wall_time
error: load_exception denied memory output_overflow crash early_exit no_code tampering
None: harness cancelled benchmark
"""


def results(*buckets: Bucket) -> list[Result]:
    return [
        Result(index=i, passed=b is Bucket.PASSED, bucket=b, detail=f"{b} {i}")
        for i, b in enumerate(buckets)
    ]


def test_the_table_is_that_of_the_design() -> None:
    for line in TABLE.strip().splitlines():
        outcome, _, buckets = line.partition(": ")
        for bucket in buckets.split():
            assert str(OUTCOMES[Bucket(bucket)]) == outcome
    assert set(OUTCOMES) == set(Bucket)
    assert {outcome for outcome in OUTCOMES.values() if outcome} == set(Outcome)


def test_all_pass() -> None:
    verdict = decide(results(Bucket.PASSED, Bucket.PASSED), declared=2)
    assert isinstance(verdict, Passed)
    assert (verdict.bucket, verdict.detail, verdict.score) == (Bucket.PASSED, "", 1.0)
    assert outcome_of(verdict) is Outcome.PASS


def test_no_tests_show_nothing() -> None:
    verdict = decide([])
    assert verdict == Unscored(bucket=Bucket.BENCHMARK, reason="there are no tests")
    assert outcome_of(verdict) is None
    assert verdict.score is None
    assert verdict.detail == "there are no tests"


def test_the_first_failure_gives_the_bucket_and_all_give_the_score() -> None:
    verdict = decide(
        results(Bucket.PASSED, Bucket.TEST_EXCEPTION, Bucket.WRONG_ANSWER, Bucket.PASSED)
    )
    assert isinstance(verdict, Failed)
    assert (verdict.bucket, verdict.detail) == (Bucket.TEST_EXCEPTION, "test_exception 1")
    assert verdict.score == 0.5


def test_an_early_stop_is_scored_against_all_that_were_declared() -> None:
    verdict = decide(results(Bucket.PASSED, Bucket.WRONG_ANSWER), declared=10)
    assert verdict.score == 0.1


@pytest.mark.parametrize("strong", PRECEDENCE)
def test_some_buckets_win_wherever_they_stand(strong: Bucket) -> None:
    verdict = decide(results(Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME, strong))
    assert verdict.bucket is strong
    assert verdict.detail == f"{strong} 3"


@pytest.mark.parametrize(("weak", "strong"), list(product(range(4), range(4))))
def test_the_strongest_of_them_wins(weak: int, strong: int) -> None:
    verdict = decide(results(PRECEDENCE[weak], PRECEDENCE[strong]))
    assert verdict.bucket is PRECEDENCE[min(weak, strong)]


@pytest.mark.parametrize("timeout", TIMEOUTS)
def test_a_final_timeout_costs_everything(timeout: Bucket) -> None:
    tests = results(Bucket.PASSED, Bucket.WRONG_ANSWER, timeout)
    final, one = decide(tests, timeout_is_final=True), decide(tests)
    assert (final.bucket, final.score) == (timeout, 0.0)
    assert (one.bucket, one.score) == (Bucket.WRONG_ANSWER, pytest.approx(1 / 3))


def test_memory_wins_over_a_final_timeout_but_the_score_is_lost() -> None:
    tests = results(Bucket.PASSED, Bucket.CPU_TIME, Bucket.MEMORY)
    verdict = decide(tests, timeout_is_final=True)
    assert (verdict.bucket, verdict.score) == (Bucket.MEMORY, 0.0)


def test_tampering_costs_everything() -> None:
    verdict = decide(results(Bucket.PASSED, Bucket.PASSED, Bucket.TAMPERING))
    assert (verdict.bucket, verdict.score) == (Bucket.TAMPERING, 0.0)


SCORED = [bucket for bucket, outcome in OUTCOMES.items() if outcome]


@given(st.lists(st.sampled_from(SCORED), min_size=1), st.integers(0, 50), st.booleans())
def test_a_verdict_is_a_pass_exactly_if_all_tests_are(
    buckets: list[Bucket], declared: int, final: bool
) -> None:
    verdict = decide(results(*buckets), declared=declared, timeout_is_final=final)
    good = all(bucket is Bucket.PASSED for bucket in buckets)
    assert isinstance(verdict, Passed) is good
    assert verdict.score is not None
    assert (verdict.score == 1.0) is good
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.tests == results(*buckets)
