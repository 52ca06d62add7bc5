"""`proctor benchmarks`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import TABLE

Proctor = Callable[..., Any]


def test_a_list(proctor: Proctor, data: Path) -> None:
    ran = proctor("benchmarks", "--data", data)
    assert (ran.status, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == 3 * len(TABLE)
    assert "basics                        54 tasks" in ran.out
    assert "MIT; comes with proctor" in ran.out
    assert "humaneval                    164 tasks" in ran.out
    assert "deepcoder                      ? tasks" in ran.out
    assert str(data / "mbpp" / "sanitized-mbpp.json") in ran.out
    assert "not as published" not in ran.out


def test_as_json(proctor: Proctor, data: Path) -> None:
    ran = proctor("benchmarks", "--json", "--data", data)
    rows = {row["name"]: row for row in json.loads(ran.out)["benchmarks"]}
    assert list(rows) == list(TABLE)
    pinned = [name for name, source in TABLE.items() if source.sha256]
    assert all(rows[name]["pinned"] is True for name in pinned)
    assert all(rows[name]["missing"] is None for name in pinned)
    assert rows["livecodebench"]["missing"].startswith("--data")
    (one,) = json.loads(proctor("benchmarks", "mbpp", "--json", "--data", data).out)["benchmarks"]
    assert one == rows["mbpp"]


def test_what_is_missing_says_where_it_could_come_from(proctor: Proctor) -> None:
    (row,) = json.loads(proctor("benchmarks", "mbpp", "--json").out)["benchmarks"]
    assert (row["file"], row["pinned"]) == (None, None)
    assert "proctor benchmarks mbpp --download" in row["missing"]
    assert row["missing"] in proctor("benchmarks", "mbpp").out


def test_a_file_that_is_not_as_published(proctor: Proctor, alone: Path) -> None:
    path = alone / "m\x1bbpp.jsonl"
    path.write_text("{}")
    ran = proctor("benchmarks", "mbpp", "--data", path)
    assert ran.out.splitlines()[-1].endswith("m\\x1bbpp.jsonl  (not as published)")
    torn = alone / "mbpp.jsonl.gz"
    torn.write_bytes(b"\x1f\x8b\x08")
    assert "cannot read" in proctor("benchmarks", "mbpp", "--data", torn).out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope"], f"nope: no such benchmark; known are {', '.join(TABLE)}"),
        (["basics", "--download"], "basics: comes with proctor, there is nothing to fetch"),
        (["--download"], "--download: name the benchmark to fetch"),
        (
            ["livecodebench", "--download"],
            (
                "livecodebench: there is no digest to check a download by; get it from "
                "https://huggingface.co/datasets/livecodebench/code_generation_lite "
                "and name it by --data"
            ),
        ),
    ],
)
def test_bad_input(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("benchmarks", *args)
    assert (ran.status, ran.out, ran.complaint) == (2, "", said)


def test_a_data_folder_of_the_settings(
    proctor: Proctor, alone: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROCTOR_CONFIG", raising=False)
    (alone / "proctor.toml").write_text(f"data = {json.dumps(str(data))}\n")
    (row,) = json.loads(proctor("benchmarks", "mbpp", "--json").out)["benchmarks"]
    assert row["pinned"]


def test_bad_settings(proctor: Proctor, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_CONFIG", raising=False)
    (alone / "proctor.toml").write_text("colour = true\n")
    ran = proctor("benchmarks")
    assert (ran.status, ran.complaint) == (
        2,
        "proctor.toml: field colour is not known",
    )
