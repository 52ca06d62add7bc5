"""What tests of contracts share: a benchmark that keeps its contract, as a file or in a package."""

import copy
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.checks.contract.evidence import Contract, contract_subject
from proctor.errors import SandboxError
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox

ROWS: list[dict[str, Any]] = [
    {
        "task_id": "demo/add",
        "prompt": "def add(a, b):\n",
        "entry_point": "add",
        "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "add(-4, 4) == 0"]},
        "metadata": {"difficulty": "easy"},
        "canonical_solution": "    return a + b\n",
        "wrong_solutions": [{"name": "near miss", "code": "def add(a, b):\n    return a | b\n"}],
    },
    {
        "task_id": "demo/shout",
        "prompt": "def shout(text):\n    pass\n",
        "tests": {
            "kind": "calls",
            "fn_name": "shout",
            "inputs": [["the quick brown fox"], ["a"]],
            "outputs": ["THE QUICK BROWN FOX!", "A!"],
        },
        "metadata": {"difficulty": "easy"},
        "canonical_solution": "def shout(text):\n    return text.upper() + '!'\n",
    },
    {
        "task_id": "demo/double",
        "prompt": "Print the double of a number.",
        "tests": {"kind": "stdin", "inputs": ["4\n", "5\n"], "outputs": ["8\n", "10\n"]},
        "metadata": {"difficulty": "hard"},
        "canonical_solution": "print(2 * int(input()))\n",
    },
]
READER = "from proctor.benchmarks.tasks_file import read"


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Return tasks that keep their contract, to be spoilt."""
    return copy.deepcopy(ROWS)


@pytest.fixture(scope="session")
def walls() -> Iterator[Sandbox]:
    """Open the best tier of this machine."""
    try:
        opened = open_sandbox("auto", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.fixture
def file_with(alone: Path) -> Callable[..., str]:
    """Return a function that writes a tasks file and returns what it is called."""

    def write(rows: list[dict[str, Any]]) -> str:
        path = alone / "demo.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    return write


@pytest.fixture
def package_with(
    alone: Path, file_with: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Return a function that makes a package which brings a benchmark, and returns its name."""

    def write(rows: list[dict[str, Any]], reader: str = READER, more: str = "") -> str:
        where = file_with(rows)
        (alone / "demo_package.py").write_text(
            f"from proctor.benchmarks import Source\n{reader}\n"
            f"SOURCE = Source(name='theirs', summary='', file={where!r}, licence='MIT', "
            f"read=read{more})\n"
        )
        about = alone / "demo_package-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Name: demo-package\nVersion: 1\n")
        points = "[proctor.benchmarks]\ntheirs = demo_package:SOURCE\n"
        (about / "entry_points.txt").write_text(points)
        monkeypatch.delitem(sys.modules, "demo_package", raising=False)
        monkeypatch.syspath_prepend(str(alone))
        monkeypatch.setenv("PYTHONPATH", str(alone))
        return "theirs"

    yield write
    sys.modules.pop("demo_package", None)


@pytest.fixture
def examination(walls: Sandbox) -> Callable[..., Contract]:
    """Return a function that begins the examination of a benchmark."""
    return lambda name, **more: Contract(contract_subject(name), walls, workers=2, **more)
