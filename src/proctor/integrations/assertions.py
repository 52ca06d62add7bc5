"""Judging a piece of code by a list of assertions, under the names that reward code uses.

Assertions may be expressions or start with `assert`. The candidate runs under the import denylist;
an exception inside an assertion makes that assertion false; a timeout scores 0 whatever passed
before it. No assertions at all is an error: nothing was shown.
"""

from collections.abc import Sequence

import msgspec

from proctor.api import grade, limits_of
from proctor.extraction.python.syntax import parse
from proctor.integrations.text import extract_code
from proctor.records.completion import Completion
from proctor.records.limits import DEFAULT_SECONDS
from proctor.records.task import Assertions, Metadata, Task
from proctor.records.verdict import Outcome
from proctor.storage.jsonl import shorten

EXIT_PASS = Outcome.PASS.value
EXIT_ASSERTION_FAIL = Outcome.ASSERTION_FAIL.value
EXIT_SYNTAX_ERROR = Outcome.SYNTAX_ERROR.value
EXIT_TIMEOUT = Outcome.TIMEOUT.value
EXIT_ERROR = Outcome.ERROR.value


class CandidateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one candidate."""

    score: float
    """The share of assertions that hold, 0 for a timeout."""
    exit_code: str
    """One of the EXIT constants; EXIT_ERROR if the candidate is unscored."""
    passed: int
    total: int
    detail: str
    per_assertion: Sequence[bool]
    unscored: bool = False
    """Whether we or an assertion failed, so that the score says nothing about the candidate."""


def run_candidate(
    code: str, assertions: Sequence[str], timeout_s: float = DEFAULT_SECONDS
) -> CandidateResult:
    """Run code and check assertions about it."""
    total = len(assertions)
    limits = limits_of(timeout_s)
    if not total:
        return _error(total, "there are no assertions")
    for text in assertions:
        if parse(text.strip()) is None or not text.strip():
            return _error(total, f"not an assertion: {shorten(text)}", unscored=True)
    task = Task(
        task_id="candidate",
        tests=Assertions(targets=list(assertions)),
        metadata=Metadata(denylist=True),
        limits=limits,
    )
    completion = Completion(task_id=task.task_id, sample=0, id="0_s0", completion=code, whole=True)
    receipt = grade(task, completion)
    held = {test.index for test in receipt.tests if test.passed}
    return CandidateResult(
        score=receipt.score or 0.0,
        exit_code=EXIT_ERROR if receipt.outcome is None else receipt.outcome.value,
        passed=len(held),
        total=total,
        detail=receipt.detail,
        per_assertion=[index in held for index in range(total)],
        unscored=receipt.outcome is None,
    )


def _error(total: int, detail: str, *, unscored: bool = False) -> CandidateResult:
    return CandidateResult(
        score=0.0,
        exit_code=EXIT_ERROR,
        passed=0,
        total=total,
        detail=detail,
        per_assertion=[False] * total,
        unscored=unscored,
    )


def score_code_exec(
    prediction: str, assertions: Sequence[str], timeout_s: float = DEFAULT_SECONDS
) -> float:
    """Extract code from a model's answer, run it, and return the share of assertions that hold."""
    code = extract_code(prediction)
    if code is None:
        return 0.0
    return run_candidate(code, assertions, timeout_s).score
