"""What stands behind a run's figures."""

from collections.abc import Callable
from pathlib import Path

from proctor.records.execution import Usage
from proctor.records.limits import Limits
from proctor.records.verdict import Bucket
from proctor.report.breakdown import compute_details

Past = Callable[..., Path]


def used(seconds: float, **more: object) -> dict[str, object]:
    return {"usage": Usage(cpu_seconds=seconds), **more}


def test_the_slowest_tasks_by_their_slowest_sample(past_run: Past) -> None:
    run = past_run("run", {"a": [used(1.0), used(3.0)], "b": [used(2.0)], "c": [used(0.5)]})
    found = compute_details(run)
    assert [(one.task_id, one.sample, one.cpu_seconds) for one in found.slowest] == [
        ("a", 1, 3.0),
        ("b", 0, 2.0),
        ("c", 0, 0.5),
    ]
    assert found.cpu_seconds == 6.5


def test_what_was_reused_was_not_run(past_run: Past) -> None:
    found = compute_details(past_run("run", {"a": [used(1.0), used(1.0, reused_from=0)]}))
    assert (found.cpu_seconds, found.reused) == (1.0, 1)


def test_exceptions_are_those_of_failures(past_run: Past) -> None:
    raised = [
        {"bucket": Bucket.TEST_EXCEPTION, "detail": f"{name}: 1"}
        for name in ("KeyError", "ValueError", "KeyError")
    ]
    ours = {"bucket": Bucket.HARNESS, "detail": "OSError: ours"}
    assert compute_details(past_run("run", {"a": [*raised, ours]})).exceptions == {
        "KeyError": 2,
        "ValueError": 1,
    }


def test_scores_by_label(past_run: Past) -> None:
    easy, hard = {"labels": ["difficulty:easy", "tag:x"]}, {"labels": ["difficulty:hard"]}
    wrong = {"bucket": Bucket.WRONG_ANSWER}
    run = past_run("run", {"a": [easy], "b": [{**easy, **wrong}], "c": [{**hard, **wrong}]})
    found = compute_details(run).by_label
    assert {name: one.value for name, one in found.items()} == {
        "difficulty:easy": 0.5,
        "difficulty:hard": 0.0,
        "tag:x": 0.5,
    }


def test_limits_notes_and_attempts(past_run: Past) -> None:
    other = Limits(cpu_seconds=9.0)
    rows = [{}, {"notes": ["asked"]}, {"attempts": 2}, {"limits": other}]
    found = compute_details(past_run("run", {"a": rows}))
    assert (found.notes, found.retried) == ({"asked": 1}, 1)
    assert found.limits[1:] == [other]
