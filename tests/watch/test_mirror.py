"""What is in a mirror is there whole, and stays as it is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.watch import mirror as mirroring
from proctor.watch.job_state import CHECKPOINT, EVALUATED, RUN
from proctor.watch.mirror import UNFINISHED, mirror_all

Make = Callable[..., Path]


@pytest.fixture
def results(alone: Path, past_run: Make) -> Path:
    """Return results: one finished with a run, one without, one not finished."""
    for name in ("done", "failed", "open"):
        folder = alone / "results" / f"{name}-00" / "demo-11"
        folder.mkdir(parents=True)
        (folder.parent / CHECKPOINT).write_text(name)
        (folder / "lease.1").write_text("x")
        if name != "open":
            (folder / EVALUATED).write_text(name)
    past_run("run", {"a": "PW"}).rename(alone / "results/done-00/demo-11" / RUN)
    return alone / "results"


def files(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_what_is_finished_is_copied_once(results: Path, alone: Path) -> None:
    mirror = alone / "mirror"
    new = mirror_all(results, mirror)
    assert [path.parent.name for path in new] == ["done-00", "failed-00"]
    assert files(mirror) == [
        "done-00/demo-11/checkpoint.json",
        "done-00/demo-11/evaluated.json",
        "done-00/demo-11/run/manifest.json",
        "done-00/demo-11/run/receipts.jsonl",
        "failed-00/demo-11/checkpoint.json",
        "failed-00/demo-11/evaluated.json",
    ]
    assert mirror_all(results, mirror) == []


def test_a_copy_that_breaks_off_leaves_nothing(
    results: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = alone / "mirror"
    copy = mirroring._copy_file

    def fail(source: Path, target: Path) -> None:
        if source.name == "receipts.jsonl":
            target.write_bytes(b"half")
            raise PermissionError(13, "no")
        copy(source, target)

    monkeypatch.setattr(mirroring, "_copy_file", fail)
    with pytest.raises(InputError):
        mirror_all(results, mirror)
    assert files(mirror) == []
    monkeypatch.undo()
    assert len(mirror_all(results, mirror)) == 2


def test_what_the_dead_left_is_tidied_up(results: Path, alone: Path) -> None:
    mirror = alone / "mirror"
    left = mirror / UNFINISHED / "done-00.demo-11.0123"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    mirror_all(results, mirror)
    assert list((mirror / UNFINISHED).iterdir()) == []


def test_the_first_copy_stays(results: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = alone / "mirror"
    place = mirror / "done-00" / "demo-11"
    copy = mirroring._copy_file

    def slow(source: Path, target: Path) -> None:
        if not place.exists():  # another one is faster
            place.mkdir(parents=True)
            (place / EVALUATED).write_text("theirs")
        copy(source, target)

    monkeypatch.setattr(mirroring, "_copy_file", slow)
    mirror_all(results, mirror)
    assert (place / EVALUATED).read_text() == "theirs"
