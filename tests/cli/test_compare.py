"""`proctor compare`, `failures` and `history` at the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Proctor = Callable[..., Any]
Past = Callable[..., Path]


@pytest.fixture
def runs(past_run: Past) -> list[Path]:
    half = {f"t{n}": "P" if n < 10 else "W" for n in range(20)}
    return [past_run("half", half), past_run("all\x1b[2J", dict.fromkeys(half, "P"))]


def test_compare(proctor: Proctor, runs: list[Path]) -> None:
    ran = proctor("compare", *runs)
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "demo · 2 runs, 20 tasks in common"
    assert lines[3].split()[:2] == ["1", "all\\x1b[2J"]
    assert "  all\\x1b[2J against half" in lines
    assert any(line.startswith("    pass@1    +50.0 points  [") for line in lines)
    assert "              beyond noise, p = 0.00195  (mcnemar, agresti-min)" in lines
    assert any(line.startswith("    better on 10: t1") for line in lines)
    assert "    worse on no task" in lines
    assert proctor("compare", *runs).out == ran.out


def test_compare_as_json(proctor: Proctor, runs: list[Path]) -> None:
    found = json.loads(proctor("compare", *runs, "--json", "--k", "1").out)
    assert [side["rank"] for side in found["runs"]] == [2, 1]
    assert found["pairs"][0]["by_k"]["1"]["difference"] == 0.5


def test_ties_and_missing_samples_are_shown(
    proctor: Proctor, runs: list[Path], past_run: Past
) -> None:
    third = past_run("third", {f"t{n}": "H" if n == 19 else "P" for n in range(20)})
    ran = proctor("compare", *runs, third)
    assert ran.status == 1
    assert ran.out.count("\n  1=    ") == 2
    assert "tasks are scored in one of them only and left out" in ran.out
    assert f"DEGRADED: {third}: 1 samples are unscored, not wrong" in ran.out


def test_compare_needs_two(proctor: Proctor, runs: list[Path]) -> None:
    ran = proctor("compare", runs[0])
    assert (ran.status, ran.complaint) == (2, "compare: name at least two run directories")


def test_failures(proctor: Proctor, past_run: Past) -> None:
    run = past_run("run", {"a": "WWP", "b": "T", "c": "H"})
    ran = proctor("failures", run)
    assert (ran.status, ran.err) == (0, "")
    assert "  3 of 5 samples failed, 1 are unscored\n" in ran.out
    assert "       2  50.0 %  assertion_fail/wrong_answer  (1 task)\n" in ran.out
    assert "  2 more samples of 2 other kinds; --top 3 shows all\n" in proctor(
        "failures", run, "--top", "1"
    ).out  # fmt: skip
    assert json.loads(proctor("failures", run, "--json").out)["failed"] == 3


def test_history(proctor: Proctor, runs: list[Path], tmp_path: Path) -> None:
    ran = proctor("history", tmp_path, "--chart", "--svg", tmp_path / "chart.svg")
    assert (ran.status, ran.err) == (0, "")
    assert "demo, pass@1: 0 % to 100 %\n" in ran.out
    assert (tmp_path / "chart.svg").read_text().startswith("<svg ")
    found = json.loads(proctor("history", tmp_path, "--model", "half", "--json").out)
    assert [run["model"] for run in found["runs"]] == ["half"]
    ran = proctor("history", tmp_path / "no")
    assert ran.status == 2
    assert "there is no such folder" in ran.err
