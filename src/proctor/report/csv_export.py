"""A run's receipts as tables for other programs: one line a task, or one line a sample."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, boundary
from proctor.records.receipt import Receipt
from proctor.records.verdict import Outcome
from proctor.report.text import printable
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS, read_manifest, replacing

COLUMNS = (
    *("task_id", "sample", "outcome", "bucket", "score", "tests", "tests_passed"),
    *("cpu_seconds", "wall_seconds", "memory_bytes", "judged", "rule", "detail"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run a cell instead of showing it."""
BATCH = 10_000


class Tally(msgspec.Struct, frozen=True):
    """What is counted of a receipt."""

    task_id: str
    sample: int
    outcome: Outcome | None


def by_task(run_dir: Path) -> Iterator[str]:
    """Yield lines of `task_id`, `N` and `num_passed`; unscored samples are not among the N."""
    counts: dict[str, Counter[bool]] = {}
    for one in _read(run_dir, Tally):
        if one.outcome is not None:
            counts.setdefault(one.task_id, Counter())[one.outcome is Outcome.PASS] += 1
    yield "task_id\tN\tnum_passed"
    for task_id, count in counts.items():
        yield f"{printable(task_id)}\t{count.total()}\t{count[True]}"


def write_csv(run_dir: Path, path: Path) -> int:
    """Write one line a sample; return how many."""
    count = 0
    with (
        boundary(InputError, f"cannot write {path}"),
        replacing(path) as place,
        place.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in _rows(run_dir):
            writer.writerow([_cell(value) for value in row])
            count += 1
    return count


def write_parquet(run_dir: Path, path: Path) -> int:
    """Write one row a sample; return how many."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  optional
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "--parquet needs pyarrow: pip install '.[hub]' in Proctor's folder"
        ) from None
    kinds = {"sample": pa.int64(), "tests": pa.int64(), "tests_passed": pa.int64()}
    kinds |= {"score": pa.float64(), "cpu_seconds": pa.float64(), "wall_seconds": pa.float64()}
    kinds |= {"memory_bytes": pa.int64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    count = 0
    with (
        boundary(InputError, f"cannot write {path}"),
        replacing(path) as place,
        pq.ParquetWriter(place, schema) as writer,
    ):
        for rows in _batches(_rows(run_dir)):
            columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
            writer.write_table(pa.table(columns, schema=schema))
            count += len(rows)
    return count


def _read(run_dir: Path, kind: type[Any]) -> Iterator[Any]:
    samples = read_manifest(run_dir).samples
    return read_journal(run_dir / RECEIPTS, kind, lambda _, sample: sample < samples)


def _rows(run_dir: Path) -> Iterator[tuple[Any, ...]]:
    for one in _read(run_dir, Receipt):
        passed = sum(test.passed for test in one.tests)
        yield (
            *(one.task_id, one.sample, one.outcome, one.bucket, one.score, len(one.tests), passed),
            *(one.usage.cpu_seconds, one.usage.wall_seconds, one.usage.memory_bytes),
            *(one.judged, one.extraction.get("rule", ""), one.detail),
        )


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA) else text
