"""Figures are those of `report` and `compare`, whoever waits for them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.results.comparison import compare_runs
from proctor.results.summary import summarize
from proctor.viewer.background_figures import BackgroundFigures, BackgroundWorker, Curve, stored
from proctor.viewer.runs import RunCatalog

P, W, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.HARNESS
Make = Callable[..., Path]


@pytest.fixture
def curve(runs: Path, cache: Path) -> Callable[[str], Curve]:
    """Return a function that waits for the curve of a run."""

    def wait(name: str) -> Curve:
        catalogue = RunCatalog(runs, cache)
        status = catalogue.status(catalogue.run(name), 10.0)
        assert status.manifest is not None
        index = catalogue.index(status.run, status.manifest)
        made = BackgroundFigures().curve(index, status, None)
        assert made is not None
        assert stored(index) == made or not made.points
        return made

    return wait


@pytest.mark.parametrize("report", [True, False])
def test_a_curve_is_what_a_report_says(
    make_run: Make, curve: Callable[[str], Curve], report: bool
) -> None:
    path = make_run(
        "m", {str(n): [P] * (n % 4) + [W] * (5 - n % 4) for n in range(12)}, report=report
    )
    made = curve("m")
    assert [point.k for point in made.points] == [1, 2, 3, 5]
    said = summarize(path, ks=[1, 2, 3, 5]).pass_at_k
    assert {str(point.k): point.estimate for point in made.points} == said
    assert (made.whole, made.note) == (True, "")


@pytest.mark.parametrize(
    ("outcomes", "note"),
    [({}, "there are no receipts yet"), ({"a": [H, H]}, "no sample is scored")],
)
def test_no_number_where_there_is_none(
    make_run: Make, curve: Callable[[str], Curve], outcomes: dict[str, list[Bucket]], note: str
) -> None:
    make_run("m", outcomes, samples=2)
    assert (curve("m").points, curve("m").note) == ([], note)


def test_a_corrupt_run_has_no_curve(make_run: Make, curve: Callable[[str], Curve]) -> None:
    path = make_run("m", {"a": [P] * 9})
    (path / "receipts.jsonl").write_text("nonsense\n")
    made = curve("m")
    assert (made.points, "line 1" in made.note) == ((), True)


def test_too_many_tasks(
    make_run: Make, curve: Callable[[str], Curve], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.background_figures.MAX_DRAWN", 3)
    make_run("m", {str(n): [P, W] for n in range(4)})
    assert "too many to draw from" in curve("m").note


def test_comparisons(make_run: Make, runs: Path, cache: Path) -> None:
    one = make_run("a", {str(n): [P] for n in range(9)})
    other = make_run("b", {str(n): [P if n % 2 else W] for n in range(9)})
    make_run("c", {"1": [P]}, benchmark="another")
    catalogue, figures = RunCatalog(runs, cache), BackgroundFigures()
    a, b, c = catalogue.statuses(10.0)
    made = figures.comparison([a, b], None)
    assert made == compare_runs([one, other])
    assert figures.comparison([a, b], 0.0) is made
    with pytest.raises(InputError, match="only runs of one benchmark"):
        figures.comparison([a, c], None)


def test_background_worker_makes_each_figure_once() -> None:
    worker, go, made = BackgroundWorker(), threading.Event(), []

    def make() -> str:
        go.wait(10)
        made.append(1)
        return "done"

    assert worker.ask("key", make, 0.0) is None
    assert worker.ask("key", make, 0.01) is None
    go.set()
    assert worker.ask("key", make, None) == "done"
    assert made == [1]
    assert worker.ask("key", make, None) == "done"
    assert made == [1, 1]


def test_background_worker_survives_errors() -> None:
    worker = BackgroundWorker()
    with pytest.raises(ZeroDivisionError):
        worker.ask("a", lambda: 1 // 0, None)
    with pytest.raises(TimeoutError):
        worker.ask("b", lambda: (_ for _ in ()).throw(TimeoutError()), None)
    assert worker.ask("a", lambda: 7, None) == 7
