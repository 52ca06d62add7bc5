"""`proctor watch` and `proctor qa CHECKPOINT`: what is printed, and with which status."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.checks.qa.gate import GateResult
from proctor.watch.status import Status

Make = Callable[..., Path]
Proctor = Callable[..., Any]
POLICY = 'tier = "portable"\nskip = ["references", "receipts"]\n'


@pytest.fixture
def config(configured: Make, tasks: Make, relied_on: Callable[..., Any]) -> Path:
    """Return the configuration of a watcher with a benchmark in rotation."""
    relied_on(tasks(count=5))
    return configured()


def test_once_then_status_then_the_gate(
    proctor: Proctor, config: Path, checkpoint: Make, alone: Path
) -> None:
    good, bad = checkpoint("good"), checkpoint("bad", off=1)
    (checkpoint("late") / "DONE").unlink()
    ran = proctor("watch", config, "--once", "--mirror", "mirror")
    assert ran.status == 0, ran.err
    assert "pass@1 100.0 %" in ran.out
    assert f"  not yet: {alone / 'checkpoints' / 'late'}: DONE is not there" in ran.out
    assert len(list((alone / "mirror").glob("*/*/run/report.json"))) == 2
    status = msgspec.json.decode(proctor("watch", config, "--status", "--json").out, type=Status)
    assert [job.standing for job in status.jobs] == ["done", "done"]
    assert status.rotation == {str(alone / "demo.jsonl"): ""}

    Path("qa.toml").write_text(f"{POLICY}[benchmark.demo.pass_at_k]\n1 = 0.9\n")
    flags = ("--policy", "qa.toml", "--results", "results")
    assert proctor("qa", good, *flags).status == 0
    ran = proctor("qa", bad, *flags, "--json")
    assert ran.status == 1
    [gate] = msgspec.json.decode(ran.out, type=GateResult).gates
    assert [line.line for line in gate.lines if line.passed is False] == ["pass@k"]
    [mirrored] = (alone / "mirror").glob("good-*/*/run")
    assert proctor("qa", mirrored, "--policy", "qa.toml").status == 0
    Path("qa.toml").write_text(f"{POLICY}[benchmark.other.pass_at_k]\n1 = 0.9\n")
    ran = proctor("qa", good, *flags)
    assert ran.status == 1
    assert "  FAIL other: there is no run of it\n" in ran.out
    (good / "weights.json").write_text(json.dumps({"off": 0, "more": 1}))
    ran = proctor("qa", good, *flags)
    assert (ran.status, ran.complaint) == (
        2,
        f"{good} has changed since it was evaluated; evaluate it again",
    )


def test_what_is_not_in_rotation_is_named(
    proctor: Proctor, configured: Make, tasks: Make, checkpoint: Make
) -> None:
    path = tasks()
    checkpoint("step-1")
    ran = proctor("watch", configured(), "--once")
    assert ran.status == 1
    assert f"{path}: not in rotation: nothing is known of its contract on this host" in ran.out
    assert not list(Path("results").iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "watch.toml: not TOML"),
        ("folders = []", "watch.toml: field folders must be"),
    ],
)
def test_bad_input(proctor: Proctor, text: str, said: str) -> None:
    Path("watch.toml").write_text(text)
    ran = proctor("watch", "watch.toml")
    assert ran.status == 2
    assert ran.complaint.startswith(said)


def test_status_only_looks(proctor: Proctor, config: Path, alone: Path) -> None:
    assert proctor("watch", config, "--status").status == 0
    assert not (alone / "results").exists()
    ran = proctor("watch", config, "--status", "--once")
    assert (ran.status, ran.complaint) == (
        2,
        "--status only looks, so it goes with neither --once nor --mirror",
    )
