"""Run directories survive a kill at any moment and belong to one run and one process."""

import fcntl
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import InputError, StoreError
from proctor.receipt import Manifest
from proctor.store import (
    COMPLETIONS,
    MANIFEST,
    RECEIPTS,
    REPORT,
    Journal,
    Key,
    RunDirectory,
    Samples,
    pretty,
    read_journal,
    read_manifest,
    write_whole,
)

Make = Callable[..., Manifest]
ROWS = [Key("a", 0), Key("é", 1), Key("b" * 50, 2)]


def fill(path: Path, rows: list[Key]) -> bytes:
    journal = Journal(path)
    for row in rows:
        journal.append(row)
    journal.close()
    return path.read_bytes()


def test_a_journal_gives_back_what_it_took(tmp_path: Path, all_closed: None) -> None:
    path = tmp_path / "j"
    text = fill(path, ROWS)
    assert list(read_journal(path, Key)) == ROWS
    assert fill(path, [Key("c", 0)]) == text + b'{"task_id":"c","sample":0}\n'


def test_a_torn_last_line_at_every_byte(tmp_path: Path) -> None:
    """Whole lines are kept, the torn one is dropped, and the next one starts afresh."""
    path = tmp_path / "j"
    text = fill(path, ROWS)
    for length in range(len(text) + 1):
        path.write_bytes(text[:length])
        whole = ROWS[: text[:length].count(b"\n")]
        assert list(read_journal(path, Key)) == whole
        fill(path, [Key("next", 9)])
        assert list(read_journal(path, Key)) == [*whole, Key("next", 9)]


@settings(max_examples=30)
@given(st.integers(0, 300_000), st.binary(max_size=20).filter(lambda tail: b"\n" not in tail))
def test_a_long_torn_line_is_found_block_by_block(
    tmp_path_factory: pytest.TempPathFactory, length: int, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("long") / "j"
    text = fill(path, ROWS)
    path.write_bytes(text + b"\0" * length + tail)
    Journal(path).close()
    assert path.read_bytes() == text
    path.write_bytes(b"x" * length)
    Journal(path).close()
    assert path.read_bytes() == b""


def test_records_are_with_the_system_at_once(tmp_path: Path) -> None:
    """A process that is killed loses nothing that it had appended."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from proctor.store import Journal, Key\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(100): journal.append(Key('a', n))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    path = tmp_path / "j"
    ran = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ran.returncode == -9
    assert len(list(read_journal(path, Key))) == 100


def test_what_utf8_cannot_have_does_not_end_a_run(tmp_path: Path) -> None:
    fill(tmp_path / "j", [Key("\ud800", 0)])
    assert list(read_journal(tmp_path / "j", Key)) == [Key("\\ud800", 0)]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j"
    fill(path, ROWS)
    path.write_bytes(path.read_bytes().replace(b'"sample":1', b'"sample":-1'))
    with pytest.raises(StoreError, match=r"j, line 2: Expected `int` >= 0 - at `\$.sample`"):
        list(read_journal(path, Key))
    path.write_bytes(b"\xff\n")
    with pytest.raises(StoreError, match="j, line 1: "):
        list(read_journal(path, Key))


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "none", Key)) == []


FULL = """
import resource, sys
from pathlib import Path
from proctor.errors import StoreError
from proctor.store import Journal, Key, write_whole
path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
journal = Journal(path / "j")
try:
    while True:
        journal.append(Key("a" * 70, 0))
except StoreError as error:
    print(error)
try:
    write_whole(path / "w", b"x" * 2000)
except StoreError as error:
    print(error)
journal.close()
"""


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    then = "File too large; what was graded is kept, and the same command goes on from there"
    assert ran.stdout.splitlines() == [
        f"cannot write {tmp_path / 'j'}: {then}",
        f"cannot write {tmp_path / 'w'}: {then}",
    ]
    assert ran.stderr == ""
    assert os.listdir(tmp_path) == ["j"]
    assert len(list(read_journal(tmp_path / "j", Key))) == 1000 // 96
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_write_whole_replaces_all_or_nothing(tmp_path: Path, all_closed: None) -> None:
    path = tmp_path / "f"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(StoreError, match="cannot write"):
        write_whole(tmp_path / "no" / "f", b"")
    assert os.listdir(tmp_path) == ["f"]


@given(st.sets(st.tuples(st.sampled_from("abc"), st.integers(0, 300))))
def test_samples_are_a_set(keys: set[tuple[str, int]]) -> None:
    samples = Samples(Key(*key) for key in [*keys, *keys])
    assert len(samples) == len(keys)
    for task_id in "abcd":
        for sample in range(301):
            assert ((task_id, sample) in samples) is ((task_id, sample) in keys)


def test_ten_million_samples_fit() -> None:
    samples = Samples()
    samples.add("a", 9_999_999)
    assert (len(samples), ("a", 9_999_998) in samples) == (1, False)
    assert sum(len(marks) for marks in samples._marks.values()) == 10_000_000


# Run directories


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
    with pytest.raises(StoreError, match=r"cannot write .*receipts.jsonl: Is a directory"):
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
