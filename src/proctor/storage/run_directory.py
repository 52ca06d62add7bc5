"""Run directories: manifest first, receipts as they come, the report last.

Every file is safe against a kill at any moment. A manifest or report is written beside its place
and moved there, so it is whole or absent. Receipts and completions are journals (`journal.py`).
The folder itself is locked, by a lock that goes with the process that holds it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

if sys.platform != "win32":  # where a folder cannot be locked
    import fcntl

from proctor.errors import InputError, boundary
from proctor.records.encoding import encode
from proctor.records.receipt import SCHEMA, Manifest
from proctor.storage.journal import BESIDE, Journal, sync_folder, writing
from proctor.storage.jsonl import explain_error, read_whole, shorten

MANIFEST, COMPLETIONS, RECEIPTS, REPORT, AXES = (
    "manifest.json",
    "completions.jsonl",
    "receipts.jsonl",
    "report.json",
    "axes.json",
)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    beside = path.with_name(path.name + BESIDE)
    with writing(path):
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(path.parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file that somebody named: it is there whole or not at all.

    A pipe, a device or a link, as /dev/stdout is one, is written to and never replaced.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        yield path
        return
    beside = path.with_name(path.name + BESIDE)
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_out(path: Path, text: str) -> None:
    """Write a file that somebody named."""
    with boundary(InputError, f"cannot write {path}"), replacing(path) as place:
        place.write_bytes(text.encode())


class RunDirectory:
    """One run's folder, held by one process at a time."""

    def __init__(self, path: Path, manifest: Manifest, *, fresh: bool = False) -> None:
        self.path = path
        with boundary(InputError, f"cannot use {path} as a run directory"):
            is_new = not path.exists()
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path, os.O_RDONLY)
            try:
                lock_folder(self._lock, path)
                self._settle(manifest, fresh=fresh)
            except BaseException:
                if is_new:
                    with suppress(OSError):
                        path.rmdir()
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

    def go_on(self, is_undone: Callable[[bytes], bool]) -> None:
        """Take out receipts that stand for no grading, and the report that knows them."""
        if self.receipts.drop(is_undone):
            (self.path / REPORT).unlink(missing_ok=True)

    def write_report(self, report: Any) -> None:
        """Write the report, which says by being there that the run is complete."""
        self.completions.sync()
        self.receipts.sync()
        write_whole(self.path / REPORT, pretty(report))

    def _settle(self, manifest: Manifest, *, fresh: bool) -> None:
        """Begin a run here, or go on with the one that is here."""
        for name in (MANIFEST, RECEIPTS, REPORT):  # somebody was killed while one was written
            (self.path / (name + BESIDE)).unlink(missing_ok=True)
        self.manifest = self._start_over(manifest) if fresh else self._agree(manifest)
        self.completions = Journal(self.path / COMPLETIONS)
        try:
            self.receipts = Journal(self.path / RECEIPTS)
        except BaseException:
            self.completions.close()
            raise
        sync_folder(self.path)  # else what is synced into new files could be in no folder

    def _start_over(self, manifest: Manifest) -> Manifest:
        """Put a new run in the place of an old one; nothing that is no run's is touched."""
        if any(self.path.iterdir()):
            try:
                read_manifest(self.path)
            except InputError:
                raise InputError(
                    f"--fresh: {self.path} holds files but no run, so it is left alone"
                ) from None
        for name in (AXES, REPORT, RECEIPTS, COMPLETIONS):
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
                f"{shorten(found.theirs)}, not {shorten(found.ours)}; "
                f"name another --out, or start over with --fresh"
            )
        (self.path / REPORT).unlink(missing_ok=True)
        return old


def lock_folder(descriptor: int, path: Path) -> None:
    """Lock a file or folder itself: the lock goes with the process and leaves no file behind."""
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{path} is in use by another process; wait for it, or name another --out"
        ) from None
    except OSError:
        pass  # a file system without locks, as some that are shared over a network


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a run."""
    there = path / MANIFEST
    with boundary(InputError, f"{path} is not a run directory"):
        there.stat()
    try:
        manifest = msgspec.json.decode(read_whole(there), type=Manifest)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{there} is not the manifest of a run: {explain_error(error)}") from None
    if manifest.schema != SCHEMA:
        raise InputError(f"{there}: field schema is {manifest.schema}; this version knows {SCHEMA}")
    return manifest


def pretty(record: Any) -> bytes:
    """Return a record as JSON for people, always the same for the same record."""
    return msgspec.json.format(encode(record), indent=2) + b"\n"
