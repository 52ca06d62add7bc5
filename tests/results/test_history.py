"""All runs of a folder, each for what it is."""

from collections.abc import Callable
from pathlib import Path

import pytest

import proctor.results.history
from proctor.errors import InputError
from proctor.results.history import find_runs, read_history
from proctor.results.summary import summarize
from proctor.storage.run_directory import MANIFEST, RECEIPTS, REPORT, pretty

Past = Callable[..., Path]


def test_states(past_run: Past, tmp_path: Path) -> None:
    past_run("done", {"a": "P"})
    past_run("half", {"a": "P"}, samples=2)
    past_run("none", {}, samples=2)
    past_run("gaps", {"a": "PH"})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / MANIFEST).write_text("{")
    torn = past_run("torn", {"a": "P"})
    (torn / RECEIPTS).write_text("nonsense\n")
    found = {Path(run.run_dir).name: run for run in read_history(tmp_path).runs}
    assert {name: run.state for name, run in found.items()} == {
        "done": "complete",
        "half": "unfinished",
        "none": "empty",
        "gaps": "degraded",
        "broken": "damaged",
        "torn": "damaged",
    }
    assert found["half"].why == "1 of 2 samples are graded"
    assert found["none"].pass_at_k == {}  # which is not a score of 0
    assert "receipts.jsonl, line 1" in found["torn"].why


def test_a_report_that_is_there_is_believed(past_run: Past, tmp_path: Path) -> None:
    run = past_run("run", {"a": "PW"})
    (run / REPORT).write_bytes(pretty(summarize(run)))
    (run / RECEIPTS).write_text("")
    assert read_history(tmp_path).runs[0].passed == 1
    (run / REPORT).write_text('{"benchmark": 1}')
    assert read_history(tmp_path).runs[0].state == "damaged"


def test_order_and_choice(past_run: Past, tmp_path: Path) -> None:
    past_run("x/new", {"a": "P"}, created="2026-03-01T00:00:00+00:00", model="Big-2")
    past_run("x/old", {"a": "P"}, created="2026-01-01T00:00:00+00:00", model="big-1")
    past_run("y", {"a": "P"}, created="2026-02-01T00:00:00+00:00", benchmark="mbpp", model="z")

    def names(**choice: str) -> list[str]:
        return [run.model for run in read_history(tmp_path, **choice).runs]

    assert names() == ["big-1", "z", "Big-2"]
    assert names(benchmark="mbpp") == ["z"]
    assert names(model="BIG") == ["big-1", "Big-2"]
    assert names(since="2026-02") == ["z", "Big-2"]


def test_links_are_not_followed_and_runs_not_entered(past_run: Past, tmp_path: Path) -> None:
    run = past_run("runs/a", {"a": "P"})
    (run / "inner").mkdir()
    (run / "inner" / MANIFEST).write_text("{}")
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    assert list(find_runs(tmp_path / "runs")) == [run]


def test_bounds(past_run: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past_run("runs/a", {"a": "P"})
    past_run("runs/b/c/d", {"a": "P"})
    monkeypatch.setattr(proctor.results.history, "DEEPEST", 2)
    assert [run.name for run in find_runs(tmp_path / "runs")] == ["a"]
    monkeypatch.setattr(proctor.results.history, "MAX_RUNS", 0)
    with pytest.raises(InputError, match="more than 0 runs"):
        list(find_runs(tmp_path / "runs"))
    with pytest.raises(InputError, match="no such folder"):
        read_history(tmp_path / "nowhere")
