"""Rows of benchmark files: lines, elements of an array, entries of an object."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.benchmarks.rows import read_rows
from proctor.errors import InputError

ROWS = [{"task_id": "a", "n": 1}, {"task_id": "b", "n": 2}]


def read(path: Path) -> list[tuple[str, int, Any]]:
    return [(line.unit, line.number, json.loads(line.text)) for line in read_rows(path)]


@pytest.mark.parametrize(
    ("content", "unit"),
    [
        ("".join(json.dumps(row) + "\n" for row in ROWS), "line"),
        (json.dumps(ROWS), "element"),
        (json.dumps(ROWS, indent=4), "element"),
        (json.dumps({"a": ROWS[0], "b": ROWS[1]}), "entry"),
        (json.dumps({"a": ROWS[0], "b": ROWS[1]}, indent=4), "entry"),
        ("\ufeff" + json.dumps({"a": ROWS[0], "b": ROWS[1]}, indent=4), "entry"),
    ],
)
def test_three_forms(tmp_path: Path, content: str, unit: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(content)
    assert read(path) == [(unit, number, row) for number, row in enumerate(ROWS, 1)]
    packed = tmp_path / "rows.json.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert read(packed) == read(path)


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = [
        {"problem": f"p{n}", "tests": {"inputs": ["1"], "outputs": [str(n)]}} for n in range(40)
    ]
    parts = [tmp_path / f"test-0000{n}-of-00002.parquet" for n in range(2)]
    parquet.write_table(pyarrow.Table.from_pylist(rows[:25]), parts[0])
    parquet.write_table(pyarrow.Table.from_pylist(rows[25:]), parts[1])
    assert read(parts[0]) == [("row", n, row) for n, row in enumerate(rows[:25], 1)]
    assert len(load("taco", parts[0]).tasks) == 25
    assert list(load("taco", tmp_path).ids) == [f"taco/{n}" for n in range(40)]
    parts[0].write_bytes(parts[0].read_bytes()[:100])
    with pytest.raises(InputError, match=r"cannot read .*test-00000-of-00002.parquet: "):
        load("taco", parts[0])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"pip install '\.\[hub\]' in Proctor's folder"):
        load("taco", parts[0])


def test_a_row_is_not_an_object_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"tests": {"kind": "x"}, "task_id": "a"}\n{"tests": {}, "task_id": "b"}\n')
    assert [unit for unit, _, _ in read(path)] == ["line", "line"]
    path.write_text("{}\n")
    assert read(path) == [("line", 1, {})]


def test_what_is_wrong_is_said_by_whoever_reads_the_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("nonsense\n")
    assert [line.text for line in read_rows(path)] == [b"nonsense"]
    path.write_text("")
    assert read(path) == []


@pytest.mark.parametrize("content", ['{\n"a": {}', '{\n"a": {},\n}', "{\n]"])
def test_a_broken_object(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"rows.json, object 1: not JSON: "):
        list(read_rows(path))


def test_a_spread_out_object_that_is_no_object_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{\n"a": 1\n}')
    with pytest.raises(InputError, match=r"rows.json: one object that is neither a row"):
        list(read_rows(path))
