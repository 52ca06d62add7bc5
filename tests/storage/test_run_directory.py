"""Run directories survive a kill at any moment and belong to one run and one process."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from proctor.errors import InputError
from proctor.records.receipt import Manifest
from proctor.storage.journal import Key, read_journal
from proctor.storage.run_directory import (
    COMPLETIONS,
    MANIFEST,
    RECEIPTS,
    REPORT,
    RunDirectory,
    pretty,
    read_manifest,
    replacing,
    write_out,
    write_whole,
)

Make = Callable[..., Manifest]


def test_write_whole_replaces_all_or_nothing(tmp_path: Path, all_closed: None) -> None:
    path = tmp_path / "f"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(InputError, match=r"cannot write .*; make it writable, or name another"):
        write_whole(tmp_path / "no" / "f", b"")
    assert os.listdir(tmp_path) == ["f"]


def test_a_new_run_has_its_manifest_first(tmp_path: Path, manifest: Make, all_closed: None) -> None:
    path = tmp_path / "deep" / "run"
    with RunDirectory(path, manifest()) as directory:
        assert sorted(os.listdir(path)) == [COMPLETIONS, MANIFEST, RECEIPTS]
        assert read_manifest(path).sha256 == directory.manifest.sha256
        directory.receipts.append(Key("a", 0))
        directory.write_report({"x": 1})
    assert json.loads((path / REPORT).read_text()) == {"x": 1}


def test_the_same_run_is_resumed(tmp_path: Path, manifest: Make) -> None:
    with RunDirectory(tmp_path, manifest()) as directory:
        directory.receipts.append(Key("a", 0))
        directory.write_report({})
    with RunDirectory(tmp_path, manifest(created="later", host="there")) as directory:
        assert directory.manifest.host == "here"
        assert not (tmp_path / REPORT).exists(), "a run that is under way has no report"
    assert list(read_journal(tmp_path / RECEIPTS, Key)) == [Key("a", 0)]


def test_another_run_is_refused_by_the_field(
    tmp_path: Path, manifest: Make, all_closed: None
) -> None:
    with RunDirectory(tmp_path, manifest()) as directory:
        directory.receipts.append(Key("a", 0))
        directory.write_report({})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    said = (
        r"belongs to another run: its preamble is 'none', not 'base'; "
        r"name another --out, or start over with --fresh"
    )
    for _ in range(2):  # the refusal does not hold the folder
        with pytest.raises(InputError, match=said):
            RunDirectory(tmp_path, manifest(preamble="base"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_long_difference_is_cut(tmp_path: Path, manifest: Make) -> None:
    RunDirectory(tmp_path, manifest(model="x" * 10_000)).__exit__(None, None, None)
    with pytest.raises(InputError) as caught:
        RunDirectory(tmp_path, manifest())
    assert len(str(caught.value)) < 500


def test_fresh_starts_over(tmp_path: Path, manifest: Make) -> None:
    with RunDirectory(tmp_path, manifest()) as directory:
        directory.receipts.append(Key("a", 0))
        directory.completions.append(Key("a", 0))
        directory.write_report({})
    (tmp_path / "notes.txt").write_text("mine")
    with RunDirectory(tmp_path, manifest(preamble="base"), fresh=True):
        assert sorted(os.listdir(tmp_path)) == [COMPLETIONS, MANIFEST, "notes.txt", RECEIPTS]
    assert (tmp_path / RECEIPTS).read_bytes() == b""
    assert read_manifest(tmp_path).preamble == "base"
    with RunDirectory(tmp_path / "empty", manifest(), fresh=True):
        pass


@pytest.mark.parametrize("content", [b"{}", b"", b"not JSON", b"\xff", b"[" * 100_000])
def test_a_folder_of_other_things_is_left_alone(
    tmp_path: Path, manifest: Make, content: bytes, all_closed: None
) -> None:
    """A web page's or an extension's manifest.json is not ours to delete."""
    for name in (MANIFEST, REPORT, RECEIPTS, "thesis.tex"):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"manifest.json is not the manifest of a run: "):
        RunDirectory(tmp_path, manifest())
    with pytest.raises(
        InputError, match=r"--fresh: .* holds files but no run, so it is left alone"
    ):
        RunDirectory(tmp_path, manifest(), fresh=True)
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(InputError, match="holds files but no run; name another --out"):
        RunDirectory(tmp_path, manifest())
    with pytest.raises(InputError, match=r"--fresh: .* is left alone"):
        RunDirectory(tmp_path, manifest(), fresh=True)
    assert sorted(os.listdir(tmp_path)) == [RECEIPTS, REPORT, "thesis.tex"]


def test_a_kill_while_the_manifest_was_written(tmp_path: Path, manifest: Make) -> None:
    (tmp_path / f"{MANIFEST}.new").write_bytes(pretty(manifest())[:100])
    with RunDirectory(tmp_path, manifest()):
        pass
    (tmp_path / f"{REPORT}.new").write_bytes(b"{")
    with RunDirectory(tmp_path, manifest()):
        assert sorted(os.listdir(tmp_path)) == [COMPLETIONS, MANIFEST, RECEIPTS]


@pytest.mark.parametrize("place", ["file", "file/run", "/proc/run", "x" * 300])
def test_a_place_that_cannot_be_used(
    tmp_path: Path, manifest: Make, place: str, all_closed: None
) -> None:
    (tmp_path / "file").write_text("mine")
    path = tmp_path / place
    with pytest.raises(InputError) as caught:
        RunDirectory(path, manifest())
    assert str(caught.value).startswith(f"cannot use {path} as a run directory: ")
    assert os.listdir(tmp_path) == ["file"]


def test_a_journal_that_cannot_be_opened_holds_nothing(
    tmp_path: Path, manifest: Make, all_closed: None
) -> None:
    RunDirectory(tmp_path, manifest()).__exit__(None, None, None)
    (tmp_path / RECEIPTS).unlink()
    (tmp_path / RECEIPTS).mkdir()
    with pytest.raises(InputError, match=r"cannot write .*receipts.jsonl: it is not a file"):
        RunDirectory(tmp_path, manifest())
    (tmp_path / RECEIPTS).rmdir()
    RunDirectory(tmp_path, manifest()).__exit__(None, None, None)


def test_two_at_once(tmp_path: Path, manifest: Make) -> None:
    with RunDirectory(tmp_path, manifest()):
        for fresh in (False, True):
            with pytest.raises(InputError, match="is in use by another process"):
                RunDirectory(tmp_path, manifest(), fresh=fresh)
    with RunDirectory(tmp_path, manifest()):
        pass


def test_the_lock_goes_with_its_process(tmp_path: Path, manifest: Make) -> None:
    code = (
        "import fcntl, os, sys, time\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    with other.stdout:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="is in use by another process"):
            RunDirectory(tmp_path, manifest())
        other.kill()
        other.wait()
    with RunDirectory(tmp_path, manifest()):
        pass


def test_a_file_system_without_locks(
    tmp_path: Path, manifest: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with RunDirectory(tmp_path, manifest()):
        pass


def test_report_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run directory: No such file or directory"):
        read_manifest(tmp_path / "none")


def test_pretty_is_for_people_and_stable(manifest: Make) -> None:
    text = pretty(manifest())
    assert text == pretty(msgspec.json.decode(text, type=Manifest))
    assert text.startswith(b'{\n  "benchmark": "demo",\n')
    assert text.endswith(b"\n}\n")


def test_a_file_that_somebody_named_is_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_out(file, "old")
    with pytest.raises(InputError, match="half way"), replacing(file) as place:
        place.write_text("ne")
        raise InputError("half way")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        write_out(tmp_path / "no" / "report.html", "new")


def test_a_link_is_written_through_and_not_replaced(tmp_path: Path) -> None:
    """As /dev/stdout is a link: root would move it away for everybody."""
    link, file = tmp_path / "stdout", tmp_path / "file"
    link.symlink_to(file)
    for text in ("one", "two"):
        write_out(link, text)
        assert link.is_symlink()
        assert file.read_text() == text
