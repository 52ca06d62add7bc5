"""Failures, like with like."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proctor.results.failures
from proctor.records.verdict import Bucket
from proctor.records.verdict import TestResult as Result
from proctor.results.failures import MAX_MESSAGE, failure_kind, find_failures

Past = Callable[..., Path]
RAISED = Bucket.TEST_EXCEPTION


def test_particulars_do_not_tell_failures_apart(past_run: Past) -> None:
    details = ["IndexError: list index 3 (line 4)", "IndexError: list index 17 (line 9)"]
    run = past_run(
        "run",
        {
            "a": [{"bucket": RAISED, "detail": details[0]}, {"detail": ""}],
            "b": [{"bucket": RAISED, "detail": details[1]}],
            "c": [{"bucket": RAISED, "detail": "KeyError: 'x'"}],
            "d": "H",
        },
    )
    found = find_failures(run)
    assert (found.samples, found.failed, found.unscored) == (5, 3, 1)
    first = found.clusters[0]
    assert (first.exception, first.message) == ("IndexError", "IndexError: list index # (line #)")
    assert (first.samples, first.tasks, first.bucket) == (2, 2, RAISED)
    assert [example.detail for example in first.examples] == details
    assert {cluster.outcome for cluster in found.clusters} == {"assertion_fail", None}


def test_wrong_answers_that_are_none(past_run: Past) -> None:
    def wrong(got: str) -> dict[str, object]:
        test = Result(index=0, passed=False, bucket=Bucket.WRONG_ANSWER, detail="", got=got)
        return {"bucket": Bucket.WRONG_ANSWER, "detail": "wrong answer", "tests": [test]}

    found = find_failures(past_run("run", {"a": [wrong("None"), wrong("3"), wrong("None")]}))
    assert [(one.message, one.samples) for one in found.clusters] == [
        ("wrong answer (None)", 2),
        ("wrong answer", 1),
    ]


@pytest.mark.parametrize(
    ("detail", "exception", "message"),
    [
        ("", None, ""),
        ("wrong answer", None, "wrong answer"),
        ("TypeError: f() takes 2", "TypeError", "TypeError: f() takes #"),
        ("my.pkg.BadThingError: no", "BadThingError", "my.pkg.BadThingError: no"),
        ("at 0x7f12ab", None, "at @…"),
        ("OSError: [Errno 2] no 'a\\'b'", "OSError", "OSError: [Errno #] no '…'"),
        ("Lists differ: [1, 2] != {3: 4}", None, "Lists differ: […] != […]"),
        ("a \n\t b", None, "a b"),
    ],
)
def test_kinds(detail: str, exception: str | None, message: str) -> None:
    assert failure_kind(detail) == (exception, message)


@given(st.text(max_size=2000))
def test_any_detail_has_a_kind_and_a_bounded_one(detail: str) -> None:
    assert len(failure_kind(detail)[1]) <= MAX_MESSAGE


def test_there_are_only_so_many_kinds(past_run: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proctor.results.failures, "MAX_CLUSTERS", 2)
    rows = [{"bucket": RAISED, "detail": f"{letter}Error"} for letter in "ABCDE"]
    found = find_failures(past_run("run", {"a": rows}))
    assert found.clusters[0].message == "(of many other kinds)"
    assert sum(cluster.samples for cluster in found.clusters) == 5
