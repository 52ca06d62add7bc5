"""What reaches a terminal is text and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.records.verdict import Bucket
from proctor.report.text import format_percent, printable, render
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import Part, Summary

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_safe_is_printable_and_one_line(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text).splitlines()) <= 1


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_safe_leaves_visible_text_alone(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("a\nb", "a ⏎ b"),
        ("a\rb", "a\\x0db"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("\u200b", "\\u200b"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\ue0001"),
        ("\x7f", "\\x7f"),
        ("naïve 日本語", "naïve 日本語"),
    ],
)
def test_what_would_steer_a_terminal(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(
        value=value, low=low, high=high, tasks=10, samples=10, unscored=0, method="by hand"
    )


def test_percent_has_its_interval_or_the_reason_for_none() -> None:
    assert format_percent(estimate(0.5, 0.25, 0.755)) == "50.0 %  [25.0, 75.5]  (by hand)"
    assert format_percent(estimate(0.5)) == "50.0 %  (by hand)"
    assert format_percent(estimate(None)) == "no task has enough scored samples"


def summary(**changes: Any) -> Summary:
    usual = {
        "benchmark": "demo",
        "model": "m",
        "tasks": 2,
        "samples": 4,
        "passed": 1,
        "unscored": 0,
        "outcomes": {},
        "buckets": {Bucket.PASSED: 1, Bucket.CPU_TIME: 3},
        "judged": {"apart": 4},
        "pass_at_k": {"1": estimate(0.25, 0.1, 0.4), "10": estimate(0.5)},
        "complete": True,
        "degraded": False,
        "sandbox": "kernel",
        "isolated": True,
        "run_dir": "runs/x",
        "seconds": 1.25,
    }
    return Summary(**{**usual, **changes})


def test_a_report() -> None:
    assert render(summary()).splitlines() == [
        "demo · m",
        "",
        "  pass@1    25.0 %  [10.0, 40.0]  (by hand)",
        "  pass@10   50.0 %  (by hand)",
        "",
        "  1 of 4 samples passed, 2 tasks",
        "    pass            passed                  1   25.0 %",
        "    timeout         cpu_time                3   75.0 %",
        "",
        "  judged: 4 apart; sandbox: kernel (isolated)",
        "  1.2 s",
        "  runs/x",
    ]


def test_parts_of_the_tests_have_lines_of_their_own() -> None:
    parts = {
        "base": Part(passed=2, pass_at_k={"1": estimate(0.5), "10": estimate(0.75)}),
        "base+plus": Part(passed=1, pass_at_k={"1": estimate(0.25), "10": estimate(0.5)}),
    }
    assert render(summary(groups=parts)).splitlines()[2:6] == [
        "  pass@1    base        50.0 %  (by hand)",
        "            base+plus   25.0 %  (by hand)",
        "  pass@10   base        75.0 %  (by hand)",
        "            base+plus   50.0 %  (by hand)",
    ]


def test_what_is_missing_is_said() -> None:
    buckets = {Bucket.HARNESS: 4}
    text = render(summary(unscored=4, buckets=buckets, degraded=True, complete=False))
    assert "    unscored        harness                 4  100.0 %" in text
    assert (
        "  DEGRADED: 4 samples are unscored, not wrong; "
        "some samples have no receipt yet; run the same command again" in text
    )


def test_no_isolation_is_said() -> None:
    assert "sandbox: portable (NOT ISOLATED)" in render(summary(sandbox="portable", isolated=False))


def test_an_empty_run_has_a_report() -> None:
    text = render(summary(samples=0, tasks=0, passed=0, buckets={}, judged={}, pass_at_k={}))
    assert "0 of 0 samples passed, 0 tasks" in text


def test_tasks_that_are_left_out_are_counted() -> None:
    left = Estimate(
        value=1.0, low=None, high=None, tasks=1, samples=1, unscored=0, left_out=3, method="x"
    )
    assert "100.0 %  (x), 3 tasks left out" in render(summary(pass_at_k={"1": left}))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_names_cannot_steer_the_terminal(benchmark: str, model: str, place: str) -> None:
    text = render(summary(benchmark=benchmark, model=model, run_dir=place))
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == 12
