"""`--engine ray` from the command line: misuse, and a cluster that is started for one command."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.requires import requires

Proctor = Callable[..., Any]
MIXED = Path(__file__).parent.parent.parent / "examples" / "mixed"
SCORE = ["score", str(MIXED / "tasks.jsonl"), "--completions", str(MIXED / "samples.jsonl")]
WITHOUT_RAY = """
import sys
sys.modules["ray"] = None
from proctor.cli import main
main()
"""


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["--address", "h:1"], 2, "--address h:1: it needs --engine ray"),
        (["--batch-size", "4"], 2, "--batch-size 4: it needs --engine ray"),
        (["--engine", "ray", "--address", "h"], 2, "--address h: write it as HOST:PORT"),
        (["--engine", "ray", "--address", "ray://h:1"], 2, "write it as HOST:PORT"),
        (["--engine", "ray", "--address", "127.0.0.1:1"], 3, "no Ray cluster answers there"),
    ],
)
def test_misuse(proctor: Proctor, args: list[str], status: int, said: str) -> None:
    if "ray" in args:
        requires("ray")
        import ray

        if ray.is_initialized():
            pytest.skip("this process is part of a cluster already")
    ran = proctor(*SCORE, *args)
    assert ran.status == status
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", [SCORE, ["run", "basics", "--model", "reference"], ["serve"]])
def test_ray_is_an_extra(command: list[str], tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_RAY, *command, "--engine", "ray"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == (
        "proctor: --engine ray needs ray; install it with pip install '.[ray]' in Proctor's folder\n"
    )


@pytest.mark.slow
@pytest.mark.requires("ray")
def test_a_cluster_for_one_command(proctor: Proctor, alone: Path) -> None:
    local = json.loads(proctor(*SCORE, "--json", "--out", "local").out)
    command = [sys.executable, "-m", "proctor", *SCORE, "--engine", "ray", "--json", "--out", "ray"]
    with tempfile.TemporaryDirectory(prefix="t") as scratch:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=alone,
            env={**os.environ, "TMPDIR": scratch},
            check=False,
        )
        assert list(Path(scratch).glob("proctor-ray-*")) == []
    assert (ran.returncode, ran.stderr) == (0, "")
    there = json.loads(ran.stdout)
    for name in ("run_dir", "seconds"):
        del local[name], there[name]
    assert there == local
