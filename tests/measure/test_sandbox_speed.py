"""Measurements measure: rows for every configuration, with numbers that fit together."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor.measure import sandbox_speed

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_every_configuration_gets_a_row() -> None:
    tiers = sandbox_speed.working_tiers()
    rates = list(sandbox_speed.measure_sandbox(tiers[:1], [1, 2], 0.2, sys.executable))
    works = [
        work for work in sandbox_speed.WORKS if work != "numpy" or find_spec("numpy") is not None
    ]
    assert [(rate.tier, rate.work, rate.workers) for rate in rates] == [
        *((sandbox_speed.SUBPROCESS, "compared", count) for count in (1, 2)),
        *((tiers[0], work, count) for work in works for count in (1, 2)),
    ]
    for rate in rates:
        assert 0 < rate.p50_ms <= rate.p95_ms
        assert rate.per_second > 0
        assert (rate.times_subprocess is None) is (rate.tier == sandbox_speed.SUBPROCESS)


def test_a_program_that_fails_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = sandbox_speed.WORKS["compared"]
    wrong = sandbox_speed.Program(source="def running_maximum(numbers):\n    return 0\n")
    monkeypatch.setitem(sandbox_speed.WORKS, "compared", (task, wrong))
    with pytest.raises(sandbox_speed.SandboxError, match="did not pass"):
        list(
            sandbox_speed.measure_sandbox(
                sandbox_speed.working_tiers()[:1], [1], 0.1, sys.executable
            )
        )


def test_the_command_prints_a_table_or_json(proctor: Callable[..., object]) -> None:
    tier = sandbox_speed.working_tiers()[0]
    args = ("bench", "sandbox", "--sandbox", tier, "--workers", "1", "--seconds", "0.1")
    ran = proctor(*args)
    assert ran.status == 0  # type: ignore[attr-defined]
    lines = ran.out.splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("tier ")
    assert lines[1].startswith("subprocess compared ")
    assert all(line.rstrip().endswith("x") for line in lines[2:])
    ran = proctor(*args, "--json")
    rates = json.loads(ran.out)["rates"]  # type: ignore[attr-defined]
    assert len(rates) == len(lines) - 1


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--workers", "two"], "--workers two: must be whole numbers above 0"),
        (["--sandbox", "none"], "--sandbox none: known are kernel, "),
    ],
)
def test_bad_input(proctor: Callable[..., object], flags: list[str], said: str) -> None:
    ran = proctor("bench", "sandbox", *flags)
    assert ran.status == 2  # type: ignore[attr-defined]
    assert ran.complaint.startswith(said)  # type: ignore[attr-defined]


def test_isolation_cost_prints_a_row_for_each_layer() -> None:
    if "kernel" not in sandbox_speed.working_tiers():
        pytest.skip("the kernel tier does not work here")
    command = [sys.executable, str(SCRIPTS / "isolation_cost.py"), "--forks", "3"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1].startswith("system call filter")
