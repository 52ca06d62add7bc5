"""A run is shown for what it is, with the reason."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.storage.run_directory import MANIFEST, RECEIPTS, REPORT
from proctor.viewer.runs import RunCatalog, Standing, Status

P, W, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.HARNESS
Make = Callable[..., Path]


@pytest.fixture
def status(runs: Path, cache: Path) -> Callable[[str], Status]:
    """Return a function that says how a run stands."""

    def look(name: str) -> Status:
        catalogue = RunCatalog(runs, cache)
        return catalogue.status(catalogue.run(name), 10.0)

    return look


def test_a_complete_run(make_run: Make, status: Callable[[str], Status]) -> None:
    make_run("demo/m", {str(n): [P] for n in range(9)}, report=True)
    found = status("demo/m")
    assert (found.standing, found.reason, found.degraded) == (Standing.COMPLETE, "", False)
    assert found.headline is not None
    assert found.headline.value == 1.0


def test_an_interrupted_run(make_run: Make, status: Callable[[str], Status]) -> None:
    make_run("m", {"a": [P]}, samples=5)
    found = status("m")
    assert found.standing is Standing.INTERRUPTED
    assert found.reason.startswith("1 of 5 samples have a receipt; ")
    assert (found.degraded, found.headline) == (True, None)


def test_an_empty_run(make_run: Make, status: Callable[[str], Status]) -> None:
    path = make_run("m", {}, samples=5)
    (path / RECEIPTS).unlink()
    found = status("m")
    assert (found.standing, found.extent.receipts) == (Standing.INTERRUPTED, 0)
    assert found.reason.startswith("0 of 5 samples")


def test_a_degraded_run(make_run: Make, status: Callable[[str], Status]) -> None:
    make_run("m", {"a": [P, H]})
    found = status("m")
    assert (found.standing, found.degraded) == (Standing.COMPLETE, True)
    assert found.reason.startswith("1 samples are unscored")


def test_a_corrupt_run(make_run: Make, status: Callable[[str], Status]) -> None:
    path = make_run("m", {"a": [P, P]}, report=True)
    with (path / RECEIPTS).open("ab") as file:
        file.write(b"{}\n{}\n")
    found = status("m")
    assert (found.standing, found.headline) == (Standing.CORRUPT, None)
    said = "receipts.jsonl, line 3: field task_id is missing, and 1 more lines"
    assert found.reason.startswith(said)


def test_a_run_whose_manifest_is_none(make_run: Make, status: Callable[[str], Status]) -> None:
    path = make_run("m", {"a": [P]})
    (path / MANIFEST).write_text('{"benchmark": 1}')
    found = status("m")
    assert (found.standing, found.manifest) == (Standing.CORRUPT, None)
    assert "is not the manifest of a run" in found.reason


def test_our_own_trouble_is_not_the_run_s(make_run: Make, runs: Path, cache: Path) -> None:
    make_run("m", {"a": [P]})
    catalogue = RunCatalog(runs, cache)
    run = catalogue.run("m")
    manifest = catalogue.status(run, 10.0).manifest
    assert manifest is not None
    catalogue.index(run, manifest)._database.execute("PRAGMA query_only = 1")
    make_run("m", {"a": [P, P]}, samples=manifest.samples)
    found = catalogue.status(run, 10.0)
    assert found.standing is Standing.UNREADABLE
    assert "cannot be kept" in found.reason


def test_a_report_that_does_not_go_with_the_receipts_is_not_believed(
    make_run: Make, status: Callable[[str], Status]
) -> None:
    path = make_run("m", {str(n): [P] for n in range(9)}, report=True)
    text = (path / REPORT).read_text()
    (path / REPORT).write_text(text.replace('"passed": 9', '"passed": 8'))
    assert status("m").headline is None
    (path / REPORT).write_text("{")
    assert (status("m").standing, status("m").headline) == (Standing.COMPLETE, None)


def test_a_run_in_progress(make_run: Make, status: Callable[[str], Status]) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux lists locks")
    path = make_run("m", {"a": [P]}, samples=5)
    hold = "import fcntl, os, sys; d = os.open(sys.argv[1], 0); fcntl.flock(d, 2); print(1, flush=True); input()"
    command = [sys.executable, "-c", hold, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = status("m")
        holder.communicate(b"\n")
    assert (found.standing, found.reason) == (
        Standing.RUNNING,
        "1 of 5 samples have a receipt so far",
    )
    assert status("m").standing is Standing.INTERRUPTED


def test_where_locks_are_not_listed(
    make_run: Make, status: Callable[[str], Status], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.runs.LOCKS", Path("/nowhere/locks"))
    path = make_run("m", {"a": [P]}, samples=5)
    assert status("m").standing is Standing.RUNNING
    os.utime(path / RECEIPTS, (time.time() - 600,) * 2)
    assert status("m").standing is Standing.INTERRUPTED


def test_a_run_that_takes_long_to_read(
    make_run: Make, runs: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.index_writer.SLICE", 1)
    make_run("m", {"a": [P] * 50})
    catalogue = RunCatalog(runs, cache)
    found = catalogue.status(catalogue.run("m"), 0.0)
    assert (found.standing, found.settled) == (Standing.READING, False)
    until = time.monotonic() + 30
    while not catalogue.status(catalogue.run("m"), 0.0).settled:  # it goes on by itself
        assert time.monotonic() < until
        time.sleep(0.01)


def test_runs_are_found_below_the_folder(make_run: Make, runs: Path, cache: Path) -> None:
    make_run("b/c/d", {"a": [P]})
    make_run("a", {"a": [P]})
    make_run("a/below", {"a": [P]})
    (runs / "link").symlink_to(runs / "a")
    assert list(RunCatalog(runs, cache).runs()) == ["a", "b/c/d"]
    assert list(RunCatalog(runs / "a", cache).runs()) == ["a"]


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/../a", "", ".", "a/", "A", "a\0"])
def test_only_names_of_the_catalogue_lead_anywhere(
    make_run: Make, runs: Path, cache: Path, name: str
) -> None:
    make_run("a", {"a": [P]})
    with pytest.raises(InputError, match="there is no run"):
        RunCatalog(runs, cache).run(name)


def test_more_runs_than_are_shown(
    make_run: Make, runs: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.runs.MAX_RUNS", 2)
    for name in "abc":
        make_run(name, {"a": [P]})
    catalogue = RunCatalog(runs, cache)
    assert (list(catalogue.runs()), catalogue.cut) == (["a", "b"], True)


def test_a_list_looks_again_only_at_what_changed(
    make_run: Make, runs: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run("a", {"a": [P]})
    catalogue = RunCatalog(runs, cache)
    (first,) = catalogue.statuses(10.0)
    (second,) = catalogue.statuses(10.0)
    assert second is first
    make_run("a", {"a": [P, W]})
    (third,) = catalogue.statuses(10.0)
    assert third.extent.receipts == 2


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        RunCatalog(tmp_path / "none", None)
