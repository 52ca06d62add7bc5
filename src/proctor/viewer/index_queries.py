"""Queries of the index of a run; each is fast however many receipts there are."""

import sqlite3
import threading
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from proctor.errors import InputError, boundary
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.pass_at_k import Tally
from proctor.storage.run_directory import RECEIPTS
from proctor.viewer.index_writer import BUCKETS

ORDERS = {
    "order": "id",
    "name": "name",
    "hardest": "n = unscored, 1.0 * passed / (n - unscored), id",
    "easiest": "n = unscored, -1.0 * passed / (n - unscored), id",
    "slowest": "-seconds / max(n, 1), id",
}
"""Sort orders of tasks; tasks without data come last."""

LISTED = 100
"""Number of samples that a row of a list shows."""
ROW = "id, name, n, passed, unscored, seconds, cells"
SAMPLE = (
    "SELECT name, sample, bucket, receipt.seconds, task FROM receipt JOIN task ON task.id = task "
)


class Damage(NamedTuple):
    """A line that is not a record of the run, and why."""

    file: str
    line: int
    reason: str


class Row(NamedTuple):
    """One task of the matrix."""

    id: int
    name: str
    n: int
    passed: int
    unscored: int
    seconds: float
    cells: str

    @property
    def first(self) -> int | None:
        """The first sample that has a receipt; None if the row has none."""
        return next((place for place, letter in enumerate(self.cells) if letter != "."), None)

    @property
    def stretches(self) -> list[tuple[int, int, str]]:
        """Runs of equal letters among the first samples: start, length, letter."""
        found = []
        start = 0
        for letter, group in groupby(self.cells[:LISTED]):
            length = len(list(group))
            found.append((start, length, letter))
            start += length
        return found


class IndexedSample(NamedTuple):
    """One sample that has a receipt."""

    task: str
    sample: int
    bucket: Bucket
    seconds: float
    task_id: int

    @property
    def outcome(self) -> Outcome | None:
        """The word the field logs for it."""
        return OUTCOMES[self.bucket]


class Extent(NamedTuple):
    """The size of a run, as far as it is indexed."""

    tasks: int
    receipts: int
    passed: int
    unscored: int
    max_samples: int
    """Number of samples of the task that has the most."""
    columns: int
    """Number of columns of the matrix."""
    min_samples: int
    """Number of samples of the task that has the fewest, but at least one."""


class IndexQueries:
    """Queries of one index; safe for use by several threads."""

    def __init__(self, run: Path, database: sqlite3.Connection, lock: threading.RLock) -> None:
        self._run, self._database, self._lock = run, database, lock

    def _one(self, query: str, *values: Any) -> Any:
        with self._lock, closing(self._database.execute(query, values)) as cursor:
            return cursor.fetchone()

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._lock, closing(self._database.execute(query, values)) as cursor:
            return cursor.fetchall()

    def damage(self) -> list[Damage]:
        """Return the first damaged lines."""
        return [Damage(*row) for row in self._all("SELECT file, line, reason FROM damage")]

    def buckets(self) -> dict[Bucket, int]:
        """Return how many samples landed in each bucket."""
        rows = self._all("SELECT id, n FROM bucket ORDER BY id")
        return {BUCKETS[bucket]: number for bucket, number in rows}

    def tallies(self) -> list[Tally]:
        """Return what became of each task that has a receipt, in the order of their names."""
        rows = self._all("SELECT name, n, passed, unscored FROM task WHERE n > 0 ORDER BY name")
        return [
            Tally(task_id=name, scored=n - unscored, passed=passed, unscored=unscored)
            for name, n, passed, unscored in rows
        ]

    def extent(self) -> Extent:
        """Return how large the run is."""
        query = (
            "SELECT count(*), sum(n), sum(passed), sum(unscored), max(n), max(length(cells)) "
            "FROM task"
        )
        min_samples = self._one("SELECT min(n) FROM task WHERE n > 0")[0]
        return Extent(*(number or 0 for number in (*self._one(query), min_samples)))

    def rows(self, order: str, wanted: str, start: int, count: int) -> tuple[int, list[Row]]:
        """Return some tasks in one of the `ORDERS`, and how many have `wanted` in their name."""
        where = "WHERE instr(lower(name), lower(?))" if wanted else "WHERE ? = ''"
        total = self._one(f"SELECT count(*) FROM task {where}", wanted)[0]  # noqa: S608  ours
        query = (
            f"SELECT {ROW} FROM task {where} "  # noqa: S608  our own words
            f"ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
        )
        rows = self._all(query, wanted, count, start)
        return total, [_row(row) for row in rows]

    def task(self, name: str) -> Row | None:
        """Return one task."""
        row = self._one(f"SELECT {ROW} FROM task WHERE name = ?", name)  # noqa: S608  ours
        return None if row is None else _row(row)

    def in_bucket(self, bucket: Bucket, start: int, count: int) -> tuple[int, list[IndexedSample]]:
        """Return some samples of a bucket, and how many there are."""
        query = SAMPLE + "WHERE bucket = ? ORDER BY task, sample LIMIT ? OFFSET ?"
        rows = self._all(query, BUCKETS.index(bucket), count, start)
        return self.buckets().get(bucket, 0), [_indexed_sample(*row) for row in rows]

    def of_task(self, task: str, start: int, count: int) -> list[IndexedSample]:
        """Return samples of a task, from one number on."""
        query = SAMPLE + "WHERE name = ? AND sample >= ? ORDER BY sample LIMIT ?"
        return [_indexed_sample(*row) for row in self._all(query, task, start, count)]

    def sample(self, task: str, sample: int) -> IndexedSample | None:
        """Return one sample, None if it has no receipt."""
        found = self._one(SAMPLE + "WHERE name = ? AND sample = ?", task, sample)
        return None if found is None else _indexed_sample(*found)

    def neighbours(
        self, sample: IndexedSample
    ) -> tuple[IndexedSample | None, IndexedSample | None]:
        """Return the samples before and after one, over all tasks."""
        place = sample.task_id, sample.sample
        before = "WHERE (task, sample) < (?, ?) ORDER BY task DESC, sample DESC LIMIT 1"
        after = "WHERE (task, sample) > (?, ?) ORDER BY task, sample LIMIT 1"
        rows = [self._one(SAMPLE + where, *place) for where in (before, after)]
        first, last = (None if row is None else _indexed_sample(*row) for row in rows)
        return first, last

    def line(self, name: str, task: str, sample: int) -> bytes | None:
        """Return the line of a file that is about one sample, None if it has none."""
        table = "receipt" if name == RECEIPTS else "completion"
        query = (
            f"SELECT start, length FROM {table} "  # noqa: S608  our own names
            "WHERE task = (SELECT id FROM task WHERE name = ?) AND sample = ?"
        )
        place = self._one(query, task, sample)
        if place is None:
            return None
        path = self._run / name
        with boundary(InputError, f"cannot read {path}"), path.open("rb") as file:
            file.seek(place[0])
            return file.read(place[1])


def _row(row: Any) -> Row:
    return Row(*row)._replace(cells=row[6].decode("ascii"))


def _indexed_sample(
    task: str, sample: int, bucket: int, seconds: float, task_id: int
) -> IndexedSample:
    return IndexedSample(task, sample, BUCKETS[bucket], seconds, task_id)
