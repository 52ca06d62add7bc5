"""The page of checkpoints: how every job stands, whatever checkpoints are called."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.storage.run_directory import pretty
from proctor.viewer.export import export_site
from proctor.viewer.pages import home, watched
from proctor.viewer.runs import RunCatalog
from proctor.viewer.site import Site
from proctor.watch.checkpoints import Checkpoint
from proctor.watch.job_state import CHECKPOINT, Job, begin, finish
from proctor.watch.leases import Leases

P, W = Bucket.PASSED, Bucket.WRONG_ANSWER
Make = Callable[..., Path]
HOSTILE = "/a/<script>alert(1)</script>"


def job(runs: Path, name: str, path: str) -> Job:
    """Begin a job."""
    one = Job(
        checkpoint=Checkpoint(path=path, fingerprint="0123456789abcdef"),
        asked="demo",
        benchmark="demo",
        benchmark_sha256="00",
        folder=runs / name / "demo-11",
    )
    begin(one)
    return one


@pytest.fixture
def results(runs: Path, make_run: Make) -> Path:
    """Return results with one checkpoint done, one under way, one that failed."""
    done = job(runs, "done-00", "/a/step-1")
    make_run("done-00/demo-11/run", {str(n): [P, W] for n in range(6)}, report=True)
    finish(done, 1)
    Leases(100.0).take(job(runs, "open-00", HOSTILE).folder)
    finish(job(runs, "failed-00", "/a/step-3"), 3, failed="3 attempts failed, the last one: x<y")
    return runs


def test_how_jobs_stand(site: Site, results: Path) -> None:
    del results
    page = watched.render(site)
    assert "<strong>50.0 %</strong>" in page
    assert 'href="/run?run=done-00%2Fdemo-11%2Frun"' in page
    for standing in ("done", "running", "failed"):
        assert f"1 {standing}</span>" in page
    assert "x&lt;y" in page
    assert "<script>alert" not in page
    assert ", attempt 1</span>" in page
    assert 'href="/watch"' in home.render(site)


def test_where_nobody_watches(site: Site, runs: Path, make_run: Make) -> None:
    make_run("one", {"a": [P]})
    assert 'href="/watch"' not in home.render(site)
    with pytest.raises(InputError, match="no watcher keeps its results"):
        watched.render(site)
    (runs / "stray").mkdir()
    (runs / "stray" / CHECKPOINT).write_bytes(pretty({"path": 3}))
    with pytest.raises(InputError, match="no watcher keeps its results"):
        watched.render(site)


def test_it_is_part_of_an_export(results: Path, cache: Path, tmp_path: Path) -> None:
    list(export_site(RunCatalog(results, cache), tmp_path / "site"))
    page = (tmp_path / "site" / "checkpoints.html").read_text()
    assert 'href="run-1.html"' in page
    assert "/a/step-3" in page
