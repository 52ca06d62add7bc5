"""Rows of Parquet files, which many data sets are published as; needs pyarrow."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.storage.jsonl import Line

BATCH = 16
"""Rows that are held at once: some have megabytes of tests."""


def read_parquet(path: Path) -> Iterator[Line]:
    """Yield the rows of a file, each as JSON."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"cannot read {path}: Parquet needs pyarrow; pip install '.[hub]' in Proctor's folder"
        ) from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Line(path, number, msgspec.json.encode(row), "row")
    except (OSError, ValueError) as error:  # what pyarrow raises is one of these
        said = (str(error).splitlines() or ["no reason given"])[0]
        raise InputError(f"cannot read {path}: {said}") from None
