"""Journals survive a kill at any moment, and damage in them is named."""

import errno
import os
import resource
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.storage import journal as module
from proctor.storage.journal import (
    BLOCK,
    FIRST_READ,
    Journal,
    Key,
    Samples,
    read_journal,
    read_places,
    sync_folder,
)

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
        "from proctor.storage.journal import Journal, Key\n"
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
    good = path.read_bytes()
    torn = b'{"task_id":"torn'
    for old, new, said in (
        (b'"sample":1', b'"sample":-1', "line 2: the run has no sample -1 of 'é'"),
        (b'"sample":1', b'"sample":"1"', "line 2: field sample must be a whole number, not a string"),
        (b'"sample":1', b'"sample":9', "line 2: the run has no sample 9 of 'é'"),
        (b'"\xc3\xa9"', b'"zz"', "line 2: the run has no sample 1 of 'zz'"),
        (b'"\xc3\xa9","sample":1', b'"a","sample":0', "line 2: sample 0 of 'a' has a line already"),
        (b'"\xc3\xa9"', b'"\xff"', "line 2: not UTF-8: byte 0xff, invalid start byte"),
        (b"\n", b"\n\n", "line 2: not JSON: Input data was truncated"),
        (b"\n", b"\n\0\0\0\n", "line 2: not JSON: invalid character (byte 0)"),
        (b"{", b'{"x":' + b"[" * 100_000 + b"],", "line 1: nested more than 100 deep"),
    ):  # fmt: skip
        path.write_bytes(good.replace(old, new, 1) + torn)
        with pytest.raises(InputError) as caught:
            list(read_journal(path, Key, lambda task_id, sample: Key(task_id, sample) in ROWS))
        mend = "take that line out, and the run's command makes a new one"
        assert str(caught.value) == f"{path}, {said}; {mend}"


@given(st.lists(st.text(max_size=3 * FIRST_READ), max_size=5), st.data())
def test_a_record_is_found_by_its_place(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    """Also when the file is opened again, and whatever was cut off or taken out before."""
    path = tmp_path_factory.mktemp("places") / "j"
    keys = [Key(name, number) for number, name in enumerate(names)]
    journal = Journal(path)
    places = [journal.append(key) for key in keys]
    assert [journal.at(place, Key) for place in places] == keys
    assert list(read_places(path, Key)) == list(zip(places, keys, strict=True))
    journal.close()
    path.write_bytes(path.read_bytes() + b'{"torn')
    journal = Journal(path)
    gone = data.draw(st.sets(st.sampled_from(keys), max_size=len(keys))) if keys else set()
    lines = {module.encode(key) + b"\n" for key in gone}
    assert journal.drop(lambda line: line in lines) is bool(gone)
    added = Key("new", 99)
    place = journal.append(added)
    assert journal.at(place, Key) == added
    journal.close()
    assert list(read_journal(path, Key)) == [*(key for key in keys if key not in gone), added]
    assert os.listdir(path.parent) == ["j"]


def test_cleared_journal_is_appended_to_from_its_start(tmp_path: Path) -> None:
    fill(tmp_path / "j", ROWS)
    journal = Journal(tmp_path / "j")
    journal.clear()
    assert journal.append(ROWS[1]) == 0
    assert journal.at(0, Key) == ROWS[1]
    journal.close()
    assert list(read_journal(tmp_path / "j", Key)) == [ROWS[1]]


def test_what_is_no_record_is_found_nowhere(tmp_path: Path) -> None:
    """Whoever looks there does without."""
    fill(tmp_path / "j", ROWS)
    journal = Journal(tmp_path / "j")
    for place in (1, 10**9):
        assert journal.at(place, Key) is None
    journal.close()
    assert journal.at(0, Key) is None


@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL])
def test_a_folder_that_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, all_closed: None, number: int
) -> None:
    """A file system that does not sync folders is none of our business, a broken one is."""

    def fsync(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError) if number == errno.EIO else nullcontext():
        sync_folder(tmp_path)


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "none", Key)) == []


FULL = """
import resource, sys
from pathlib import Path
from proctor.errors import HostError
from proctor.storage.journal import Journal, Key
from proctor.storage.run_directory import write_whole
path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
journal = Journal(path / "j")
try:
    for n in range(1000):
        journal.append(Key("a" * 70, n))
except HostError as error:
    print(error)
try:
    write_whole(path / "w", b"x" * 2000)
except HostError as error:
    print(error)
journal.close()
"""


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    then = (
        "File too large; what was graded is kept, "
        "and the same command without --fresh goes on from there"
    )
    assert ran.stdout.splitlines() == [
        f"cannot write {tmp_path / 'j'}: {then}",
        f"cannot write {tmp_path / 'w'}: {then}",
    ]
    assert ran.stderr == ""
    assert os.listdir(tmp_path) == ["j"]
    assert len(list(read_journal(tmp_path / "j", Key))) == 10
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_line_that_has_no_end_takes_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash may leave a file with a hole at its end, of any length."""
    monkeypatch.setattr(module, "MAX_RECORD", 1000)
    path = tmp_path / "j"
    text = fill(path, ROWS)
    with path.open("ab") as file:
        file.truncate(len(text) + 10 * BLOCK)
    with pytest.raises(InputError, match=r"j, line 4: longer than 0 MiB; take that line out"):
        list(read_journal(path, Key))
    assert fill(path, [Key("next", 9)]).startswith(text)
    assert list(read_journal(path, Key)) == [*ROWS, Key("next", 9)]


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file(tmp_path: Path, kind: str) -> None:
    """It is refused, not waited for."""
    path = tmp_path / "j"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(InputError, match=r"^cannot read .*j: it "):
        list(read_journal(path, Key))
    with pytest.raises(InputError) as caught:
        Journal(path)
    mend = "make it writable, or name another --out"
    assert str(caught.value) == f"cannot write {path}: it is not a file; {mend}"


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
