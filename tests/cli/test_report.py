"""`proctor report`: a run for what it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.records.encoding import encode
from proctor.records.receipt import Manifest, Receipt
from proctor.records.verdict import Bucket
from proctor.storage.run_directory import MANIFEST, RECEIPTS, pretty

Proctor = Callable[..., Any]


@pytest.fixture
def run(
    alone: Path, manifest: Callable[..., Manifest], receipt: Callable[..., Receipt]
) -> Callable[..., Path]:
    """Return a function that makes a run directory of one task."""

    def make(*buckets: Bucket, **changes: Any) -> Path:
        path = alone / "run"
        path.mkdir(exist_ok=True)
        usual = {"samples": len(buckets), **changes}
        (path / MANIFEST).write_bytes(pretty(manifest(**usual)))
        lines = [encode(receipt(n, bucket)) + b"\n" for n, bucket in enumerate(buckets)]
        (path / RECEIPTS).write_bytes(b"".join(lines))
        return path

    return make


def test_a_finished_run(proctor: Proctor, run: Callable[..., Path]) -> None:
    path = run(Bucket.PASSED, Bucket.WRONG_ANSWER)
    ran = proctor("report", path)
    assert (ran.status, ran.err) == (0, "")
    assert "  1 of 2 samples passed, 1 tasks\n" in ran.out
    assert "DEGRADED" not in ran.out


def test_as_json(proctor: Proctor, run: Callable[..., Path]) -> None:
    path = run(Bucket.PASSED, Bucket.WRONG_ANSWER)
    ran = proctor("report", path, "--json", "--k", "2,1")
    assert len(ran.out.splitlines()) == 1
    found = json.loads(ran.out)
    assert list(found["pass_at_k"]) == ["2", "1"]
    assert (found["run_dir"], found["seconds"]) == (str(path), None)


def test_an_interrupted_run_is_degraded(proctor: Proctor, run: Callable[..., Path]) -> None:
    ran = proctor("report", run(Bucket.PASSED, samples=5))
    assert ran.status == 1
    assert "DEGRADED: some samples have no receipt yet; run the same command again" in ran.out


def test_a_run_with_unscored_samples_is_degraded(
    proctor: Proctor, run: Callable[..., Path]
) -> None:
    ran = proctor("report", run(Bucket.PASSED, Bucket.HARNESS))
    assert ran.status == 1
    assert "DEGRADED: 1 samples are unscored, not wrong\n" in ran.out


def test_a_report_changes_nothing(proctor: Proctor, run: Callable[..., Path]) -> None:
    path = run(Bucket.PASSED)
    (path / RECEIPTS).write_bytes((path / RECEIPTS).read_bytes() + b'{"torn')
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    assert proctor("report", path).status == 0
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["none"], "none is not a run directory: No such file or directory"),
        (["."], ". is not a run directory: No such file or directory"),
        (["file"], "file is not a run directory: Not a directory"),
        (["run", "--k", "3"], "--k 3: no task has more than 1 samples"),
        (["run", "--k", "-3"], "--k -3: must be whole numbers above 0, as in 1,10,100"),
    ],
)
def test_bad_input(
    proctor: Proctor, run: Callable[..., Path], alone: Path, args: list[str], said: str
) -> None:
    run(Bucket.PASSED)
    (alone / "file").touch()
    ran = proctor("report", *args)
    assert (ran.status, ran.out, ran.complaint) == (2, "", said)


def test_a_manifest_of_something_else(proctor: Proctor, alone: Path) -> None:
    (alone / MANIFEST).write_text('{"name": "a web page"}')
    ran = proctor("report", alone)
    assert ran.status == 2
    said = "is not the manifest of a run: field benchmark is missing"
    assert ran.complaint == f"{alone / MANIFEST} {said}"


def test_a_broken_receipt_is_named(proctor: Proctor, run: Callable[..., Path]) -> None:
    path = run(Bucket.PASSED)
    (path / RECEIPTS).write_bytes(b"{}\n")
    ran = proctor("report", path)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint == (
        f"{path / RECEIPTS}, line 1: field task_id is missing; "
        f"take that line out, and the run's command makes a new one"
    )


def test_what_stands_behind_it(proctor: Proctor, run: Callable[..., Path]) -> None:
    path = run(Bucket.PASSED, Bucket.TEST_EXCEPTION)
    ran = proctor("report", path)
    assert "\n  Slowest tasks\n" in ran.out
    assert "\n  How it was judged\n" in ran.out
    assert json.loads(proctor("report", path, "--json").out)["details"]["retried"] == 0
    assert proctor("report", path).out == ran.out


def test_other_formats(proctor: Proctor, run: Callable[..., Path], alone: Path) -> None:
    path = run(Bucket.PASSED, Bucket.WRONG_ANSWER)
    assert proctor("report", path, "--markdown").out.startswith("# demo · recorded")
    assert proctor("report", path, "--tsv").out == "task_id\tN\tnum_passed\na\t2\t1\n"
    assert proctor("report", path, "--html", "r.html", "--csv", "r.csv").status == 0
    assert Path("r.html").read_text().startswith("<!doctype html>")
    assert len(Path("r.csv").read_text().splitlines()) == 3
    ran = proctor("report", path, "--tsv", "--json")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint == "report: --json, --markdown and --tsv: choose one of them"
    assert proctor("report", path, "--html", "no/r.html").status == 2
