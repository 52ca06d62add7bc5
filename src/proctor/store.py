"""Run directories: manifest first, receipts as they come, the report last.

Every file is safe against a kill at any moment. A manifest or report is written beside its place
and moved there, so it is whole or absent. Receipts and completions are appended line by line and
synced in batches; a last line that was torn is cut off when the run is opened again, and its
sample is simply run again.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from proctor.errors import InputError, StoreError, boundary
from proctor.receipt import Manifest

MANIFEST, COMPLETIONS, RECEIPTS, REPORT = (
    "manifest.json",
    "completions.jsonl",
    "receipts.jsonl",
    "report.json",
)
SYNC_SECONDS = 1.0
BLOCK = 1 << 16

Record = TypeVar("Record")


class Journal:
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with boundary(StoreError, f"cannot write {path}"):
            self._file = path.open("ab")
            self._repair()
        self._encoder = msgspec.json.Encoder()
        self._synced = time.monotonic()

    def append(self, record: Any) -> None:
        """Add one record; it is on the disk after at most a second and some."""
        with boundary(StoreError, f"cannot write {self._path}"):
            self._file.write(self._encoder.encode(record) + b"\n")
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self.sync()

    def sync(self) -> None:
        """Wait until all that was appended is on the disk."""
        with boundary(StoreError, f"cannot write {self._path}"):
            self._file.flush()
            os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        self._file.close()

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
            except msgspec.DecodeError as error:
                raise StoreError(f"{path}, line {number}: {error}") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with boundary(StoreError, f"cannot write {path}"):
        beside = path.with_name(path.name + ".new")
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class RunDirectory:
    """One run's folder, held by one process at a time."""

    def __init__(self, path: Path, manifest: Manifest, *, fresh: bool = False) -> None:
        self.path = path
        with boundary(StoreError, f"cannot create {path}"):
            path.mkdir(parents=True, exist_ok=True)
        self._lock = self._hold()
        if fresh:
            self._empty()
        self.manifest = self._agree(manifest)
        self.completions = Journal(path / COMPLETIONS)
        self.receipts = Journal(path / RECEIPTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.completions.close()
        self.receipts.close()
        os.close(self._lock)

    def write_report(self, report: Any) -> None:
        """Write the report, which says by being there that the run is complete."""
        self.completions.sync()
        self.receipts.sync()
        write_whole(self.path / REPORT, pretty(report))

    def _hold(self) -> int:
        """Lock the folder itself: the lock goes with the process and leaves no file behind."""
        with boundary(StoreError, f"cannot open {self.path}"):
            folder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(folder)
            raise StoreError(f"{self.path} is in use by another process") from None
        return folder

    def _empty(self) -> None:
        if any(self.path.iterdir()) and not (self.path / MANIFEST).exists():
            raise InputError(f"--fresh: {self.path} holds files but no run, so it is left alone")
        for name in (REPORT, RECEIPTS, COMPLETIONS, MANIFEST):
            (self.path / name).unlink(missing_ok=True)

    def _agree(self, manifest: Manifest) -> Manifest:
        """Write the manifest, or check that the one that is there is of the same run."""
        there = self.path / MANIFEST
        if not there.exists():
            if any(self.path.iterdir()):
                raise InputError(f"{self.path} holds files but no run; name another --out")
            write_whole(there, pretty(manifest))
            return manifest
        old = read_manifest(self.path)
        field = manifest.differs(old)
        if field is not None:
            was, now = getattr(old, field), getattr(manifest, field)
            raise InputError(
                f"{self.path} belongs to another run: its {field} is {was!r}, not {now!r}; "
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
    except msgspec.DecodeError as error:
        raise InputError(f"{path / MANIFEST}: {error}") from None


def pretty(record: Any) -> bytes:
    """Return a record as JSON for people, always the same for the same record."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
