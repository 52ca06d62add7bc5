"""Run directories: manifest first, receipts as they come, the report last.

Every file is safe against a kill at any moment. A manifest or report is written beside its place
and moved there, so it is whole or absent. Receipts and completions are appended line by line, each
handed to the system at once and all of them synced in batches; a last line that was torn is cut
off when the run is opened again, and its sample is simply run again.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self, TypeVar

import msgspec

if sys.platform != "win32":  # where a folder cannot be locked
    import fcntl

from proctor.errors import InputError, StoreError, boundary
from proctor.lines import brief, encode
from proctor.receipt import Manifest

MANIFEST, COMPLETIONS, RECEIPTS, REPORT = (
    "manifest.json",
    "completions.jsonl",
    "receipts.jsonl",
    "report.json",
)
BESIDE = ".new"
SYNC_SECONDS = 1.0
BLOCK = 1 << 16
GO_ON = "what was graded is kept, and the same command goes on from there"

Record = TypeVar("Record")


class Journal:
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._boundary():
            self._file = path.open("ab", buffering=0)
            self._repair()
        self._synced = time.monotonic()

    def append(self, record: Any) -> None:
        """Add one record; the system has it when this returns, the disk with the next sync."""
        rest = encode(record) + b"\n"
        with self._boundary():
            while rest:
                rest = rest[self._file.write(rest) :]
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until all that was appended is on the disk."""
        with self._boundary():
            os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        finally:
            self._file.close()

    def _boundary(self) -> Any:
        return boundary(StoreError, f"cannot write {self._path}", GO_ON)

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


def read_journal(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Yield the records of a journal; a torn last line is not one."""
    if not path.exists():
        return
    decoder = msgspec.json.Decoder(kind)
    with boundary(StoreError, f"cannot read {path}"), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except ValueError as error:
                raise StoreError(f"{path}, line {number}: {error}") from None


class Key(msgspec.Struct, frozen=True):
    """Which sample a line of a journal is about."""

    task_id: str
    sample: Annotated[int, msgspec.Meta(ge=0, lt=1 << 28)]


class Samples:
    """A set of samples, one byte each: there may be millions."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._marks: dict[str, bytearray] = {}
        self._count = 0
        for key in keys:
            self.add(key.task_id, key.sample)

    def add(self, task_id: str, sample: int) -> None:
        """Put one in."""
        marks = self._marks.setdefault(task_id, bytearray())
        marks.extend(bytes(max(0, sample + 1 - len(marks))))
        self._count += not marks[sample]
        marks[sample] = 1

    def __contains__(self, key: tuple[str, int]) -> bool:
        task_id, sample = key
        marks = self._marks.get(task_id, b"")
        return sample < len(marks) and bool(marks[sample])

    def __len__(self) -> int:
        return self._count


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    beside = path.with_name(path.name + BESIDE)
    with boundary(StoreError, f"cannot write {path}", GO_ON):
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            with suppress(OSError):  # not every file system syncs folders
                os.fsync(folder)
        finally:
            os.close(folder)


class RunDirectory:
    """One run's folder, held by one process at a time."""

    def __init__(self, path: Path, manifest: Manifest, *, fresh: bool = False) -> None:
        self.path = path
        with boundary(InputError, f"cannot use {path} as a run directory"):
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path, os.O_RDONLY)
            try:
                self._hold()
                self._settle(manifest, fresh=fresh)
            except BaseException:
                os.close(self._lock)
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.completions.close()
        finally:
            try:
                self.receipts.close()
            finally:
                os.close(self._lock)

    def write_report(self, report: Any) -> None:
        """Write the report, which says by being there that the run is complete."""
        self.completions.sync()
        self.receipts.sync()
        write_whole(self.path / REPORT, pretty(report))

    def _hold(self) -> None:
        """Lock the folder itself: the lock goes with the process and leaves no file behind."""
        try:
            if sys.platform != "win32":
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{self.path} is in use by another process") from None
        except OSError:
            pass  # a file system without locks, as some that are shared over a network

    def _settle(self, manifest: Manifest, *, fresh: bool) -> None:
        """Begin a run here, or go on with the one that is here."""
        for name in (MANIFEST, REPORT):  # somebody was killed in the middle of `write_whole`
            (self.path / (name + BESIDE)).unlink(missing_ok=True)
        self.manifest = self._start_over(manifest) if fresh else self._agree(manifest)
        self.completions = Journal(self.path / COMPLETIONS)
        try:
            self.receipts = Journal(self.path / RECEIPTS)
        except BaseException:
            self.completions.close()
            raise

    def _start_over(self, manifest: Manifest) -> Manifest:
        """Put a new run in the place of an old one; nothing that is no run's is touched."""
        if any(self.path.iterdir()):
            try:
                read_manifest(self.path)
            except InputError:
                raise InputError(
                    f"--fresh: {self.path} holds files but no run, so it is left alone"
                ) from None
        for name in (REPORT, RECEIPTS, COMPLETIONS):
            (self.path / name).unlink(missing_ok=True)
        write_whole(self.path / MANIFEST, pretty(manifest))
        return manifest

    def _agree(self, manifest: Manifest) -> Manifest:
        """Write the manifest, or check that the one that is there is of the same run."""
        there = self.path / MANIFEST
        if not there.exists():
            if any(self.path.iterdir()):
                raise InputError(f"{self.path} holds files but no run; name another --out")
            write_whole(there, pretty(manifest))
            return manifest
        old = read_manifest(self.path)
        found = manifest.differs(old)
        if found is not None:
            raise InputError(
                f"{self.path} belongs to another run: its {found.field} is "
                f"{brief(found.theirs)}, not {brief(found.ours)}; "
                f"name another --out, or start over with --fresh"
            )
        (self.path / REPORT).unlink(missing_ok=True)
        return old


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a run."""
    with boundary(InputError, f"{path} is not a run directory"):
        content = (path / MANIFEST).read_bytes()
    try:
        return msgspec.json.decode(content, type=Manifest)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path / MANIFEST} is not the manifest of a run: {error}") from None


def pretty(record: Any) -> bytes:
    """Return a record as JSON for people, always the same for the same record."""
    return msgspec.json.format(encode(record), indent=2) + b"\n"
