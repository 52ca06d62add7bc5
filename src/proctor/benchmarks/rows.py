"""Rows of benchmark files: lines, elements of one array, what one object holds by id, Parquet."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from proctor.benchmarks.parquet import read_parquet
from proctor.benchmarks.repository_tasks import read_folders
from proctor.errors import InputError
from proctor.storage.json_array import BOM
from proctor.storage.jsonl import Line, read_lines, read_whole

MAX_OBJECT = 1 << 30


def read_all(paths: Sequence[Path]) -> Iterator[Line]:
    """Yield the rows of several files; those of Parquet are parts of one and numbered on."""
    before = 0
    for path in paths:
        line = None
        for line in read_rows(path):
            yield line._replace(number=before + line.number) if line.unit == "row" else line
        before += 0 if line is None else line.number


def read_rows(path: Path) -> Iterator[Line]:
    """Yield the rows of a file, each where it stands."""
    if path.is_dir():
        yield from read_folders(path)
        return
    if path.suffix == ".parquet":
        yield from read_parquet(path)
        return
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        return
    if first.unit == "line" and first.text == b"{":  # an object over many lines
        found = _entries(Line(path, 1, read_whole(path, MAX_OBJECT).removeprefix(BOM), "object"))
        if found is None:
            raise InputError(f"{path}: one object that is neither a row on one line nor holds rows")
        yield from found
        return
    entries = _entries(first) if first.unit == "line" else None
    yield from chain([first], lines) if entries is None else entries


def _entries(whole: Line) -> list[Line] | None:
    """Return the rows of an object `{id: row, …}`; None if it is a row itself."""
    try:
        rows = msgspec.json.decode(whole.text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        if whole.unit == "object":
            whole.decode(dict[str, msgspec.Raw])  # says what is wrong
        return None  # whoever reads the line says so
    if not rows or not all(bytes(row).startswith(b"{") for row in rows.values()):
        return None
    return [
        Line(whole.file, number, bytes(row), "entry") for number, row in enumerate(rows.values(), 1)
    ]
