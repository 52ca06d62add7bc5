"""The judgement on one sample: Verdict, Outcome, Bucket, TestResult, and the one table of them."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """The five words the field logs."""

    PASS = "pass"
    ASSERTION_FAIL = "assertion_fail"
    SYNTAX_ERROR = "syntax_error"
    TIMEOUT = "timeout"
    ERROR = "error"


class Bucket(StrEnum):
    """Why a sample got its outcome."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    TEST_EXCEPTION = "test_exception"
    SYNTAX = "syntax"
    COMPILE = "compile"
    COMPILE_TIMEOUT = "compile_timeout"
    COMPILE_RESOURCE = "compile_resource"
    CPU_TIME = "cpu_time"
    WALL_TIME = "wall_time"
    LOAD_EXCEPTION = "load_exception"
    DENIED = "denied"
    MEMORY = "memory"
    OUTPUT_OVERFLOW = "output_overflow"
    CRASH = "crash"
    EARLY_EXIT = "early_exit"
    NO_CODE = "no_code"
    TAMPERING = "tampering"
    HARNESS = "harness"
    CANCELLED = "cancelled"
    BENCHMARK = "benchmark"


OUTCOMES: dict[Bucket, Outcome | None] = {
    Bucket.PASSED: Outcome.PASS,
    Bucket.WRONG_ANSWER: Outcome.ASSERTION_FAIL,
    Bucket.TEST_EXCEPTION: Outcome.ASSERTION_FAIL,
    Bucket.SYNTAX: Outcome.SYNTAX_ERROR,
    Bucket.COMPILE: Outcome.SYNTAX_ERROR,
    Bucket.COMPILE_TIMEOUT: Outcome.SYNTAX_ERROR,
    Bucket.COMPILE_RESOURCE: Outcome.SYNTAX_ERROR,
    Bucket.CPU_TIME: Outcome.TIMEOUT,
    Bucket.WALL_TIME: Outcome.TIMEOUT,
    Bucket.LOAD_EXCEPTION: Outcome.ERROR,
    Bucket.DENIED: Outcome.ERROR,
    Bucket.MEMORY: Outcome.ERROR,
    Bucket.OUTPUT_OVERFLOW: Outcome.ERROR,
    Bucket.CRASH: Outcome.ERROR,
    Bucket.EARLY_EXIT: Outcome.ERROR,
    Bucket.NO_CODE: Outcome.ERROR,
    Bucket.TAMPERING: Outcome.ERROR,
    Bucket.HARNESS: None,
    Bucket.CANCELLED: None,
    Bucket.BENCHMARK: None,
}
"""Which outcome each bucket belongs to; None is unscored. Reports, API and viewer all read this."""

PRECEDENCE = (Bucket.TAMPERING, Bucket.DENIED, Bucket.OUTPUT_OVERFLOW, Bucket.MEMORY)
"""Buckets that win over the first test that did not pass, strongest first."""

TIMEOUTS = (Bucket.CPU_TIME, Bucket.WALL_TIME)


class TestResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one test."""

    index: int
    passed: bool
    bucket: Bucket = Bucket.PASSED
    detail: str = ""
    expected: str | None = None
    got: str | None = None
    seconds: float | None = None
    group: str | None = None
    """The part of the task's tests that it belongs to, where a task has parts."""


class Passed(msgspec.Struct, frozen=True, kw_only=True, tag="passed"):
    """Every test passed."""

    tests: Sequence[TestResult] = ()

    @property
    def bucket(self) -> Bucket:
        """Always `passed`."""
        return Bucket.PASSED

    @property
    def detail(self) -> str:
        """Nothing to add."""
        return ""

    @property
    def score(self) -> float:
        """Always 1."""
        return 1.0


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The sample is not correct; the bucket says why."""

    bucket: Bucket
    detail: str = ""
    tests: Sequence[TestResult] = ()
    score: float = 0.0


class Unscored(msgspec.Struct, frozen=True, kw_only=True, tag="unscored"):
    """Nothing is known about the sample: we, the user or the benchmark stood in the way."""

    bucket: Bucket = Bucket.HARNESS
    reason: str = ""
    tests: Sequence[TestResult] = ()

    @property
    def detail(self) -> str:
        """The reason, under the name the other verdicts have for it."""
        return self.reason

    @property
    def score(self) -> None:
        """No score, which is not a score of nothing."""
        return


Verdict = Passed | Failed | Unscored


def outcome_of(verdict: Verdict) -> Outcome | None:
    """Return the word the field logs for a verdict, None if it is unscored."""
    return OUTCOMES[verdict.bucket]


def decide(
    tests: Sequence[TestResult], *, declared: int = 0, timeout_is_final: bool = False
) -> Verdict:
    """Turn the results of all tests, in order, into one verdict.

    `declared` is how many tests there are, if some have no result because an early stop was
    asked for. `timeout_is_final` says that the time limit covered all tests together, so that
    running out of it costs the whole score; else a test that timed out is just one that failed.
    """
    failures = [test for test in tests if not test.passed]
    if not tests:
        return Unscored(bucket=Bucket.BENCHMARK, reason="there are no tests")
    if not failures:
        return Passed(tests=tests)
    score = (len(tests) - len(failures)) / max(len(tests), declared)
    strongest = [test for bucket in PRECEDENCE for test in failures if test.bucket is bucket]
    timeouts = [test for test in failures if test.bucket in TIMEOUTS and timeout_is_final]
    blamed = [*strongest, *timeouts, *failures][0]
    if blamed.bucket is Bucket.TAMPERING or timeouts:
        score = 0.0
    return Failed(bucket=blamed.bucket, detail=blamed.detail, tests=tests, score=score)
