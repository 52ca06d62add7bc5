"""Where each receipt and completion of a run lies, and what became of each sample.

An sqlite file a run. It is brought up to date by reading on from where the last reading ended, in
slices, each of which is one transaction: whoever is killed in between, or reads at the same time
in another process, finds it whole. A file that is not the one that was read before (the run was
started over, or a line was edited) is read anew.
"""

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from proctor.errors import HostError, InputError, boundary
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS
from proctor.viewer.index_queries import IndexQueries
from proctor.viewer.index_writer import BUCKETS, IndexWriter, ReadState

SEALED = 4096
"""How much of the beginning and of the end of what was read must be unchanged."""
PATIENCE_SECONDS = 10.0
"""How long to wait for another process that writes to the same index."""
STATE, CURVE = "state", "curve"

TABLES = """
CREATE TABLE note (name TEXT PRIMARY KEY, json BLOB NOT NULL);
CREATE TABLE task (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n INTEGER NOT NULL DEFAULT 0,
    passed INTEGER NOT NULL DEFAULT 0, unscored INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0, cells BLOB NOT NULL DEFAULT x'');
CREATE TABLE receipt (
    task INTEGER NOT NULL, sample INTEGER NOT NULL, start INTEGER NOT NULL,
    length INTEGER NOT NULL, bucket INTEGER NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (task, sample)) WITHOUT ROWID;
CREATE INDEX receipt_bucket ON receipt (bucket, task, sample);
CREATE TABLE completion (
    task INTEGER NOT NULL, sample INTEGER NOT NULL, start INTEGER NOT NULL,
    length INTEGER NOT NULL, PRIMARY KEY (task, sample)) WITHOUT ROWID;
CREATE TABLE bucket (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
CREATE TABLE damage (file TEXT NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL);
"""
LAYOUT = hashlib.sha256((TABLES + "".join(BUCKETS)).encode()).hexdigest()[:16]


class State(msgspec.Struct):
    """What an index was made from, and how far."""

    manifest: str = ""
    files: dict[str, ReadState] = msgspec.field(
        default_factory=lambda: {RECEIPTS: ReadState(), COMPLETIONS: ReadState()}
    )


class Progress(NamedTuple):
    """How much of a run's files the index knows."""

    version: str
    """Changes whenever anything does."""
    settled: bool
    share: float
    """How much of the files is read, from 0 to 1."""
    damaged: int
    """Lines that are no records."""


class Index:
    """The index of one run; safe for use by several threads."""

    def __init__(self, run: Path, samples: int, folder: Path | None) -> None:
        self._run, self._samples = run, samples
        self._lock = threading.RLock()
        self._database = _open(run, folder)
        self._state = State()
        self.lookup = IndexQueries(run, self._database, self._lock)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._database.close()

    def update(self, seconds: float = float("inf")) -> Progress:
        """Read on for about so long, and say how far that went."""
        until = time.monotonic() + seconds
        with self._lock, _keeping(self._run):
            self._state = self._load()
            if self._state.manifest != self._manifest():
                self._start_over()
            for name in (RECEIPTS, COMPLETIONS):
                self._update(name, until)
                if not self._state.files[name].done:
                    break  # receipts come first
            return self._progress()

    def note(self, name: str) -> bytes | None:
        """Return what was noted by a name."""
        with self._lock:
            found = self._database.execute("SELECT json FROM note WHERE name = ?", [name])
            row = found.fetchone()
        return None if row is None else row[0]

    def write_note(self, name: str, content: bytes) -> None:
        """Keep something for next time, until the run is another."""
        with self._lock, self._writing():
            self._write_note(name, content)

    def _write_note(self, name: str, content: bytes) -> None:
        self._database.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", [name, content])

    def _progress(self) -> Progress:
        files = self._state.files
        read = sum(reading.size if reading.done else reading.end for reading in files.values())
        size = sum(max(_size(self._run / name), files[name].end) for name in files)
        ends = "-".join(str(reading.end) for reading in files.values())
        return Progress(
            version=f"{self._state.manifest[:12]}-{ends}",
            settled=all(reading.done for reading in files.values()),
            share=min(1.0, read / size) if size else 1.0,
            damaged=sum(reading.damaged for reading in files.values()),
        )

    def _manifest(self) -> str:
        with boundary(InputError, f"cannot read {self._run / MANIFEST}"):
            return hashlib.sha256((self._run / MANIFEST).read_bytes()).hexdigest()

    def _load(self) -> State:
        stored = self.note(STATE)
        return State() if stored is None else msgspec.json.decode(stored, type=State)

    def _start_over(self) -> None:
        with self._writing():
            for table in ("note", "task", "receipt", "completion", "bucket", "damage"):
                self._database.execute(f"DELETE FROM {table}")  # noqa: S608  our own names
            self._state = State(manifest=self._manifest())
            self._write_note(STATE, msgspec.json.encode(self._state))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Change all or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _update(self, name: str, until: float) -> None:
        """Read one file on, slice by slice."""
        path, reading = self._run / name, self._state.files[name]
        if not path.is_file():
            if reading.end:
                self._start_over()
            if not self._state.files[name].done:
                self._state.files[name].done = True
                self.write_note(STATE, msgspec.json.encode(self._state))
            return
        with boundary(InputError, f"cannot read {path}"), path.open("rb") as file:
            facts = path.stat()
            now = (facts.st_size, facts.st_mtime_ns)
            if now == (reading.size, reading.touched) and reading.done:
                return
            edited = now[0] == reading.size and now[1] != reading.touched and reading.done
            if reading.end and (edited or _seal(file, reading.end) != reading.seal):
                self._start_over()
            while True:
                self._slice(name, file, now)
                if self._state.files[name].done or time.monotonic() >= until:
                    return

    def _slice(self, name: str, file: IO[bytes], now: tuple[int, int]) -> None:
        with self._writing():
            stored = self._load()  # another process may have read on in the meantime
            if stored.manifest == self._state.manifest:
                self._state = stored
            reading = self._state.files[name]
            IndexWriter(self._database, self._run / name, self._samples).take(reading, file)
            reading.size, reading.touched = now
            reading.seal = _seal(file, reading.end)
            self._write_note(STATE, msgspec.json.encode(self._state))


@contextmanager
def _keeping(run: Path) -> Iterator[None]:
    """Say so if the index itself gives out, which is no fault of the run."""
    try:
        yield
    except sqlite3.Error as error:
        raise HostError(f"the index of {run} cannot be kept: {error}") from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _seal(file: IO[bytes], end: int) -> str:
    """Return a digest of how the part of a file that was read begins and ends."""
    file.seek(0)
    digest = hashlib.sha256(file.read(min(SEALED, end)))
    file.seek(max(0, end - SEALED))
    digest.update(file.read(min(SEALED, end)))
    return digest.hexdigest()


def _open(run: Path, folder: Path | None) -> sqlite3.Connection:
    """Open the index of a run, in memory where there is no place to keep it."""
    if folder is not None:
        name = hashlib.sha256(f"{LAYOUT} {run.resolve()}".encode(errors="surrogateescape"))
        path = folder / f"{name.hexdigest()[:32]}.sqlite"
        with suppress(OSError, sqlite3.Error):
            folder.mkdir(parents=True, exist_ok=True)
            return _connect(str(path))
        with suppress(OSError, sqlite3.Error):  # it is damaged, and nothing is lost with it
            path.unlink()
            return _connect(str(path))
    return _connect(":memory:")


def _connect(place: str) -> sqlite3.Connection:
    database = sqlite3.connect(
        place, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in filter(str.strip, TABLES.split(";")):
                database.execute(statement)
        database.execute("COMMIT")
        database.execute("SELECT count(*) FROM note").fetchone()
    except BaseException:
        database.close()
        raise
    return database
