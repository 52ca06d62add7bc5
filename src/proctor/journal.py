"""Files of JSON lines that only grow: receipts and completions of a run.

A line is handed to the system at once, and all of them are synced in batches. After a kill at any
moment, or on a full disk, all lines are whole but the last; one that was torn is cut off when the
file is opened again, and its sample is simply run again. Whatever else is wrong with a line, it
was damaged or edited since, and is named.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import msgspec

from proctor.errors import HostError, InputError, boundary
from proctor.lines import MAX_LINE, brief, encode, explain, open_bytes

SYNC_SECONDS = 1.0
BLOCK = 1 << 20
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
            self._file = path.open("ab", buffering=0)
            self._repair()
        self._synced = time.monotonic()

    def append(self, record: Any) -> None:
        """Add one record; the system has it when this returns, the disk with the next sync."""
        rest = encode(record) + b"\n"
        with writing(self._path):
            while rest:
                rest = rest[self._file.write(rest) :]
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

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

    def ends_with(self, is_tail: Callable[[bytes], bool]) -> bool:
        """Say whether the last line is of a kind."""
        with writing(self._path), self._path.open("rb") as file:
            return is_tail(_last_line(file))

    def cut_at(self, is_tail: Callable[[bytes], bool]) -> None:
        """Cut off all lines from the first one that is of a kind."""
        with writing(self._path), self._path.open("rb") as file:
            keep = 0
            for line in file:
                if is_tail(line):
                    break
                keep += len(line)
            self._file.truncate(keep)

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


def _last_line(file: IO[bytes]) -> bytes:
    """Return the last line, or as much of it as a block holds."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - BLOCK))
    return (file.read().splitlines() or [b""])[-1]


def read_journal(
    path: Path, kind: type[Record], belongs: Belongs = lambda _, __: True
) -> Iterator[Record]:
    """Yield the records of a journal, of each sample that `belongs` to the run one at most.

    A torn last line is no record.
    """
    if not path.exists():
        return
    decoder = msgspec.json.Decoder(kind)
    seen = Samples()
    with boundary(InputError, f"cannot read {path}"), open_bytes(path) as file:
        number = 0
        while (text := file.readline(MAX_RECORD)).endswith(b"\n"):
            number += 1
            try:
                record = decoder.decode(text)
            except (ValueError, RecursionError) as error:
                raise _damaged(path, number, explain(error)) from None
            task_id, sample = record.task_id, record.sample
            if not (0 <= sample < MAX_SAMPLES and belongs(task_id, sample)):
                raise _damaged(path, number, f"the run has no sample {sample} of {brief(task_id)}")
            if not seen.add(task_id, sample):
                said = f"sample {sample} of {brief(task_id)} has a line already"
                raise _damaged(path, number, said)
            yield record
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
        marks = self._marks.setdefault(task_id, bytearray())
        marks.extend(bytes(max(0, sample + 1 - len(marks))))
        new = not marks[sample]
        self._count += new
        marks[sample] = 1
        return new

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
