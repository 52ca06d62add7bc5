"""The pages as files: whole, linked, bounded, and honest about what is missing."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.storage.run_directory import RECEIPTS
from proctor.viewer.export import export_site
from proctor.viewer.runs import RunCatalog

P, W, T = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME
Make = Callable[..., Path]


@pytest.fixture
def export(runs: Path, cache: Path, tmp_path: Path) -> Callable[[], tuple[Path, list[str]]]:
    """Return a function that exports all runs."""

    def write() -> tuple[Path, list[str]]:
        folder = tmp_path / "site"
        return folder, list(export_site(RunCatalog(runs, cache), folder))

    return write


def test_every_link_leads_somewhere(
    make_run: Make, export: Callable[[], tuple[Path, list[str]]]
) -> None:
    for name, model in (("a", "first"), ("b", "second")):
        make_run(name, {str(n): [P, W, T] for n in range(6)}, model=model)
    make_run("empty", {}, samples=3)
    (make_run("corrupt", {"a": [P]}) / RECEIPTS).write_text("{}\n")
    folder, said = export()
    assert said == [f"{folder}: 42 pages of 4 runs and 1 comparisons"]
    pages = list(folder.glob("*.html"))
    assert len(pages) == 42
    for page in pages:
        text = page.read_text()
        assert "Content-Security-Policy" in text
        for target in re.findall(r'(?:href|src)="([^"]*)"', text):
            assert (folder / unescape(target)).is_file(), (page.name, target)
    assert "no score" in (folder / "run-4.html").read_text()


def test_bounds_are_told(
    make_run: Make,
    export: Callable[[], tuple[Path, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proctor.viewer.export.MAX_SAMPLES", 4)
    monkeypatch.setattr("proctor.viewer.export.MAX_RUNS", 1)
    make_run("a", {str(n): [P, W] for n in range(3)})
    make_run("b", {"x": [P]})
    folder, said = export()
    assert said == [
        f"{folder}: 6 pages of 1 runs and 0 comparisons",
        "left out: runs beyond the first 1",
        "left out: 2 samples of a",
    ]
    index = (folder / "index.html").read_text()
    assert "2 samples of a" in index
    samples = "".join(page.read_text() for page in folder.glob("run-1-sample-*.html"))
    assert samples.count("<strong>wrong_answer</strong>") == 3  # failures come first
    assert samples.count("<strong>passed</strong>") == 1


def test_nothing_is_written_over(
    make_run: Make, export: Callable[[], tuple[Path, list[str]]]
) -> None:
    make_run("a", {"x": [P]})
    export()
    with pytest.raises(InputError, match="there are files in it; name a new folder"):
        export()


def test_a_folder_that_cannot_be(runs: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"):
        list(export_site(RunCatalog(runs, cache), tmp_path / "file" / "site"))


def test_the_same_runs_give_the_same_pages(
    make_run: Make, runs: Path, cache: Path, tmp_path: Path
) -> None:
    make_run("a", {str(n): [P, W] for n in range(6)})
    make_run("b", {str(n): [P, P] for n in range(6)})
    found = []
    for name in ("one", "two"):
        list(export_site(RunCatalog(runs, cache), tmp_path / name))
        found.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert found[0] == found[1]
