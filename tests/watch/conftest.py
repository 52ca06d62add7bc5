"""What tests of watchers share: a benchmark in rotation, a model without weights, a configuration."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.watch.config import Config, read_config

ANSWER = '''
"""Answers what the checkpoint says, slowly if it says so, and writes down what it was asked."""
import json, pathlib, sys, time

place = pathlib.Path(sys.argv[1])
said = json.loads((place / "weights.json").read_text())
for line in sys.stdin:
    asked = json.loads(line)
    with open(sys.argv[2], "a") as log:
        log.write(f"{place} {asked['task_id']}\\n")
    time.sleep(said.get("seconds", 0))
    if said.get("breaks"):
        sys.exit(said["breaks"])
    code = f"    return a + b + {said['off']}\\n"
    print(json.dumps({"task_id": asked["task_id"], "text": code}), flush=True)
'''


@pytest.fixture
def tasks(alone: Path) -> Callable[..., Path]:
    """Return a function that writes a tasks file: sums of two numbers."""

    def write(name: str = "demo", count: int = 3) -> Path:
        path = alone / f"{name}.jsonl"
        rows = [
            {
                "task_id": f"{name}/{n}",
                "prompt": "def add(a, b):\n",
                "entry_point": "add",
                "tests": {"kind": "assertions", "targets": [f"add({n}, 2) == {n + 2}"]},
                "canonical_solution": "    return a + b\n",
            }
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def checkpoint(alone: Path) -> Callable[..., Path]:
    """Return a function that makes a checkpoint: how far off its sums are, and what else it does."""

    def make(name: str, off: int = 0, **more: Any) -> Path:
        folder = alone / "checkpoints" / name
        folder.mkdir(parents=True)
        (folder / "weights.json").write_text(json.dumps({"off": off, "name": name, **more}))
        (folder / "DONE").touch()
        return folder

    return make


@pytest.fixture
def configured(alone: Path) -> Callable[..., Path]:
    """Return a function that writes the configuration of a watcher."""

    def write(**changes: Any) -> Path:
        script = alone / "answer.py"
        script.write_text(ANSWER)
        (alone / "checkpoints").mkdir(exist_ok=True)
        fields = {
            "folders": ["checkpoints"],
            "results": "results",
            "model": f"command:{sys.executable} {script} {{checkpoint}} {alone / 'asked.txt'}",
            "benchmarks": ["demo.jsonl"],
            "complete": "marker",
            "marker": "DONE",
            "poll_seconds": 0.2,
            "lease_seconds": 3.0,
            "workers": 1,
            **changes,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if value != ""]
        path = alone / "watch.toml"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def config(configured: Callable[..., Path]) -> Callable[..., Config]:
    """Return a function that reads the configuration of a watcher."""
    return lambda **changes: read_config(configured(**changes))


@pytest.fixture
def asked(alone: Path) -> Callable[[], list[str]]:
    """Return a function that says what the model was asked: checkpoints and tasks."""

    def read() -> list[str]:
        log = alone / "asked.txt"
        return log.read_text().splitlines() if log.exists() else []

    return read
