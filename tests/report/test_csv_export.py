"""Tables for other programs."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.report.csv_export import COLUMNS, by_task, write_csv, write_parquet

Past = Callable[..., Path]


def test_one_line_a_task(past_run: Past) -> None:
    run = past_run("run", {"b": "PPW", "a\tx": "W", "c": "H", "d": "HP"})
    assert list(by_task(run)) == ["task_id\tN\tnum_passed", "b\t3\t2", "a\\x09x\t1\t0", "d\t1\t1"]


def test_one_line_a_sample(past_run: Past, tmp_path: Path, hostile_texts: tuple[str, ...]) -> None:
    rows = [{"bucket": Bucket.TEST_EXCEPTION, "detail": hostile} for hostile in hostile_texts]
    run = past_run("run", {"a": rows})
    assert write_csv(run, tmp_path / "run.csv") == len(hostile_texts)
    with (tmp_path / "run.csv").open(newline="") as file:
        head, *lines = list(csv.reader(file))
    assert head == list(COLUMNS)
    assert len(lines) == len(hostile_texts)
    for line in lines:
        assert not line[-1].startswith(("=", "+", "-", "@"))
        assert line[-1].isprintable()


def test_parquet(past_run: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr("proctor.report.csv_export.BATCH", 2)
    run = past_run("run", {"a": "PWH"})
    assert write_parquet(run, tmp_path / "run.parquet") == 3
    table = parquet.read_table(tmp_path / "run.parquet").to_pylist()
    assert [row["outcome"] for row in table] == ["pass", "assertion_fail", None]
    assert [row["sample"] for row in table] == [0, 1, 2]


def test_no_place_to_write(past_run: Past, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_csv(past_run("run", {"a": "P"}), tmp_path / "no" / "run.csv")
