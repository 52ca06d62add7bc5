"""Files of JSON lines that only grow: receipts and completions of a run.

A line is handed to the system at once, and all of them are synced in batches. After a kill at any
moment, or on a full disk, all lines are whole but the last; one that was torn is cut off when the
file is opened again, and its sample is simply run again. Whatever else is wrong with a line, it
was damaged or edited since, and is named.
"""

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from proctor.errors import HostError, InputError, boundary
from proctor.records.encoding import encode
from proctor.storage.jsonl import MAX_LINE, explain_error, open_bytes, shorten

SYNC_SECONDS = 1.0
BESIDE = ".new"
"""What a file is called until it is whole."""
BLOCK = 1 << 20
FIRST_READ = 1 << 13
"""How much is read at once of a record; most have no more."""
MAX_RECORD = 2 * MAX_LINE
"""No line of ours is longer: it holds hardly more than a line of a samples file did."""
MAX_SAMPLES = 1 << 28
"""No task has more."""
GO_ON = "what was graded is kept, and the same command without --fresh goes on from there"
ELSEWHERE = "make it writable, or name another --out"
TAKE_OUT = "take that line out, and the run's command makes a new one"


class OfSample(Protocol):
    """A record about one sample."""

    @property
    def task_id(self) -> str:
        """Which task."""
        ...

    @property
    def sample(self) -> int:
        """Which of its samples."""
        ...


Record = TypeVar("Record", bound=OfSample)
Belongs = Callable[[str, int], bool]


class Journal:
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            if path.exists() and not path.is_file():
                raise InputError(f"cannot write {path}: it is not a file")
            self._file = path.open("a+b", buffering=0)
            self._repair()
            self._end = self._file.seek(0, os.SEEK_END)
        self._synced = time.monotonic()

    def append(self, record: Any) -> int:
        """Add one record and return its place.

        The system has it when this returns, the disk with the next sync.
        """
        rest, place = encode(record) + b"\n", self._end
        self._end += len(rest)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with writing(self._path):
                raise
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return place

    def at(self, place: int, kind: type[Record]) -> Record | None:
        """Return the record at a place, None if there is no such one; any thread may ask."""
        text, size = b"", FIRST_READ
        try:
            while (more := os.pread(self._file.fileno(), size, place + len(text))) != b"":
                text += more
                line, end, _ = text.partition(b"\n")
                if end:
                    return msgspec.json.decode(line, type=kind)
                size = len(text)  # twice as much each time
        except (OSError, ValueError, RecursionError):
            pass  # it was damaged since, or the disk was: nobody has to rely on it
        return None

    def sync(self) -> None:
        """Wait until all that was appended is on the disk."""
        with writing(self._path):
            os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        finally:
            self._file.close()

    def clear(self) -> None:
        """Delete all lines."""
        with writing(self._path):
            self._file.truncate(0)
        self._end = 0

    def drop(self, is_unwanted: Callable[[bytes], bool]) -> bool:
        """Take out all lines of a kind, and say whether there were any.

        The file is cut where they are at its end, and else replaced by one without them.
        """
        with writing(self._path), self._path.open("rb") as file:
            keep, place, scattered = None, 0, False
            for line in file:
                unwanted = is_unwanted(line)
                keep = place if unwanted and keep is None else keep
                scattered |= keep is not None and not unwanted
                place += len(line)
            if keep is None:
                return False
            if scattered:
                file.seek(0)
                self._replace(line for line in file if not is_unwanted(line))
            else:
                self._file.truncate(keep)
            self._end = self._file.seek(0, os.SEEK_END)
        return True

    def _replace(self, lines: Iterable[bytes]) -> None:
        """Put a file with other lines in the place of this one: it is there whole or not at all."""
        beside = self._path.with_name(self._path.name + BESIDE)
        try:
            with beside.open("wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(self._path.parent)
        self._file.close()
        self._file = self._path.open("a+b", buffering=0)

    def _repair(self) -> None:
        """Cut off a last line that has no end."""
        with self._path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            keep = end
            while keep > 0:
                start = max(0, keep - BLOCK)
                file.seek(start)
                newline = file.read(keep - start).rfind(b"\n")
                if newline >= 0:
                    keep = start + newline + 1
                    break
                keep = start
        if keep != end:
            self._file.truncate(keep)


def sync_folder(path: Path) -> None:
    """Wait until the disk knows which files a folder has."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise  # else it is a file system that does not sync folders
    finally:
        os.close(folder)


def read_journal(
    path: Path, kind: type[Record], belongs: Belongs = lambda _, __: True
) -> Iterator[Record]:
    """Yield the records of a journal, of each sample that `belongs` to the run one at most.

    A torn last line is no record.
    """
    return (record for _, record in read_places(path, kind, belongs))


def read_places(
    path: Path, kind: type[Record], belongs: Belongs = lambda _, __: True
) -> Iterator[tuple[int, Record]]:
    """Yield the same, each with its place."""
    if not path.exists():
        return
    decoder = msgspec.json.Decoder(kind)
    seen = Samples()
    with boundary(InputError, f"cannot read {path}"), open_bytes(path) as file:
        number = place = 0
        while (text := file.readline(MAX_RECORD)).endswith(b"\n"):
            number += 1
            try:
                record = decoder.decode(text)
            except (ValueError, RecursionError) as error:
                raise _damaged(path, number, explain_error(error)) from None
            task_id, sample = record.task_id, record.sample
            if not (0 <= sample < MAX_SAMPLES and belongs(task_id, sample)):
                raise _damaged(
                    path, number, f"the run has no sample {sample} of {shorten(task_id)}"
                )
            if not seen.add(task_id, sample):
                said = f"sample {sample} of {shorten(task_id)} has a line already"
                raise _damaged(path, number, said)
            yield place, record
            place += len(text)
        if len(text) == MAX_RECORD:
            raise _damaged(path, number + 1, f"longer than {MAX_RECORD >> 20} MiB")


def _damaged(path: Path, number: int, what: str) -> InputError:
    return InputError(f"{path}, line {number}: {what}; {TAKE_OUT}")


class Key(msgspec.Struct, frozen=True):
    """Which sample a line of a journal is about."""

    task_id: str
    sample: int


class Samples:
    """A set of samples, one byte each: there may be millions."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._marks: dict[str, bytearray] = {}
        self._count = 0
        for key in keys:
            self.add(key.task_id, key.sample)

    def add(self, task_id: str, sample: int) -> bool:
        """Put one in; say whether it is new."""
        marks = self._marks.get(task_id)
        if marks is None:
            marks = self._marks[task_id] = bytearray()
        if sample >= len(marks):
            marks.extend(bytes(sample + 1 - len(marks)))
        elif marks[sample]:
            return False
        marks[sample] = 1
        self._count += 1
        return True

    def __contains__(self, key: tuple[str, int]) -> bool:
        task_id, sample = key
        marks = self._marks.get(task_id, b"")
        return sample < len(marks) and bool(marks[sample])

    def __len__(self) -> int:
        return self._count


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say who is to blame if a file of a run cannot be written, and what to do."""
    try:
        with boundary(InputError, f"cannot write {path}"):
            yield
    except HostError as error:
        raise HostError(f"{error}; {GO_ON}") from error.__cause__
    except InputError as error:
        raise InputError(f"{error}; {ELSEWHERE}") from error.__cause__
