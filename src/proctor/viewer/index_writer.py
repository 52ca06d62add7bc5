"""Lines of receipts and completions on their way into the index, many in one transaction."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import IO, Any

import msgspec

from proctor.records.execution import Usage
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.summary import SampleBrief
from proctor.storage.journal import MAX_RECORD, MAX_SAMPLES, Key
from proctor.storage.jsonl import explain_error, shorten
from proctor.storage.run_directory import RECEIPTS

BUCKETS = tuple(Bucket)
CODES = bytes(ord("a") + place for place in range(len(BUCKETS)))
"""The letter of each bucket in a row of the matrix."""
NOTHING = b"."
MAX_COLUMNS = 1000
"""Samples a task that the matrix has room for; all others are in the lists."""
SLICE = 2000
"""Lines read in one transaction."""
SHOWN_DAMAGE = 20
LONGEST_NAME = 4096
SKIPPED = 1 << 20


class Entry(SampleBrief, frozen=True, kw_only=True):
    """The few fields of a receipt that the index needs."""

    usage: Usage


class ReadState(msgspec.Struct):
    """How far one file has been read."""

    end: int = 0
    lines: int = 0
    damaged: int = 0
    seal: str = ""
    size: int = 0
    touched: int = 0
    done: bool = False
    """Whether there was no more at the time; a torn last line is nothing yet."""


class _Task:
    """One task while lines about it come in."""

    def __init__(self, key: int, *counts: Any) -> None:
        self.key = key
        self.n, self.passed, self.unscored, self.seconds = counts[:4] if counts else (0, 0, 0, 0.0)
        self.cells = bytearray(counts[4] if counts else b"")

    def count(self, entry: Entry) -> None:
        """Count one receipt in."""
        outcome = OUTCOMES[entry.bucket]
        self.n += 1
        self.passed += outcome is Outcome.PASS
        self.unscored += outcome is None
        self.seconds += entry.usage.wall_seconds
        if entry.sample < MAX_COLUMNS:
            self.cells.extend(NOTHING * (entry.sample + 1 - len(self.cells)))
            self.cells[entry.sample] = CODES[BUCKETS.index(entry.bucket)]


class IndexWriter:
    """Takes some lines in; the caller begins and ends the transaction."""

    def __init__(self, database: sqlite3.Connection, path: Path, samples: int) -> None:
        self._database, self._path, self._samples = database, path, samples
        self._receipts = path.name == RECEIPTS
        kind: type[Entry | Key] = Entry if self._receipts else Key
        self._decoder = msgspec.json.Decoder(kind)
        self._tasks: dict[str, _Task] = {}
        self._buckets: Counter[int] = Counter()

    def take(self, reading: ReadState, file: IO[bytes]) -> None:
        """Read on from where the reading ended, at most a slice."""
        file.seek(reading.end)
        for _ in range(SLICE):
            text = file.readline(MAX_RECORD)
            reading.done = not text.endswith(b"\n") and len(text) < MAX_RECORD
            if reading.done:
                break
            reading.lines += 1
            trouble = self._line(text, reading.end)
            if not text.endswith(b"\n"):
                trouble = f"longer than {MAX_RECORD >> 20} MiB"
                while (rest := file.readline(SKIPPED)) and not rest.endswith(b"\n"):
                    pass
            if trouble is not None:
                self._damaged(reading, trouble)
            reading.end = file.tell()
        self._flush()

    def _line(self, text: bytes, start: int) -> str | None:
        """Take one line in, or say what is wrong with it."""
        try:
            record: Any = self._decoder.decode(text)
        except (ValueError, RecursionError) as error:
            return explain_error(error)
        sample_count = self._samples if self._receipts else MAX_SAMPLES
        if not 0 <= record.sample < sample_count:
            return f"the run has no sample {record.sample} of {shorten(record.task_id)}"
        if len(record.task_id) > LONGEST_NAME:
            return f"task_id is longer than {LONGEST_NAME} characters, too long to be shown"
        task = self._task(record.task_id)
        place = [task.key, record.sample, start, len(text)]
        if self._receipts:
            fields = [*place, BUCKETS.index(record.bucket), record.usage.wall_seconds]
            query = "INSERT OR IGNORE INTO receipt VALUES (?, ?, ?, ?, ?, ?)"
        else:
            fields, query = place, "INSERT OR IGNORE INTO completion VALUES (?, ?, ?, ?)"
        if not self._database.execute(query, fields).rowcount:
            return f"sample {record.sample} of {shorten(record.task_id)} has a line already"
        if self._receipts:
            task.count(record)
            self._buckets[BUCKETS.index(record.bucket)] += 1
        return None

    def _task(self, name: str) -> _Task:
        task = self._tasks.get(name)
        if task is None:
            query = "SELECT id, n, passed, unscored, seconds, cells FROM task WHERE name = ?"
            found = self._database.execute(query, [name]).fetchone()
            if found is None:
                made = self._database.execute("INSERT INTO task (name) VALUES (?)", [name])
                found = [made.lastrowid]
            task = self._tasks[name] = _Task(*found)
        return task

    def _damaged(self, reading: ReadState, reason: str) -> None:
        reading.damaged += 1
        if reading.damaged <= SHOWN_DAMAGE:
            row = [self._path.name, reading.lines, reason]
            self._database.execute("INSERT INTO damage VALUES (?, ?, ?)", row)

    def _flush(self) -> None:
        if not self._receipts:
            return
        self._database.executemany(
            "UPDATE task SET n = ?, passed = ?, unscored = ?, seconds = ?, cells = ? WHERE id = ?",
            [
                (task.n, task.passed, task.unscored, task.seconds, bytes(task.cells), task.key)
                for task in self._tasks.values()
            ],
        )
        self._database.executemany(
            "INSERT INTO bucket VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET n = n + excluded.n",
            self._buckets.items(),
        )
