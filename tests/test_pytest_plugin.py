"""What authors of benchmarks see in pytest: one test a line, and readable failures."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.checks.contract import LINES

GOOD = {
    "task_id": "demo/add",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "add(-4, 4) == 0"]},
    "canonical_solution": "    return a + b\n",
}
TEST = """\
import pytest

@pytest.mark.proctor_contract({name!r})
def test_contract(contract_line):
    contract_line.must_hold()
"""


def run(folder: Path, test: str, *args: str) -> tuple[int, str]:
    """Run a test file as its author does."""
    (folder / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *args, "test_it.py"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.slow
def test_a_contract_that_is_kept_and_one_that_is_not(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(json.dumps(GOOD) + "\n")
    status, said = run(tmp_path, TEST.format(name="tasks.jsonl"))
    isolated = "hides nothing" not in said
    assert status == (0 if isolated else 1), said
    assert re.search(rf"{len(LINES) - 3 - (not isolated)} passed, 3 skipped", said), said
    assert "no task is in a language with braces" in said

    spoilt = {**GOOD, "canonical_solution": "    return a - b\n"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(spoilt) + "\n")
    status, said = run(tmp_path, TEST.format(name="tasks.jsonl"), "-k", "references or ids")
    assert status == 1
    assert "1 failed, 1 passed" in said
    assert "references is broken: every reference passes\n  1 of 1 tasks: demo/add: " in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("test", "says"),
    [
        (TEST.format(name="nowhere"), "nowhere: no such benchmark or tasks file"),
        pytest.param(
            "def test_it(contract_line): pass\n",
            "test_it.py::test_it: mark it with proctor_contract",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import pytest\n@pytest.mark.proctor_contract('x', colour=1)\ndef test_it(contract_line): pass\n",
            "mark it with proctor_contract",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_what_is_misused_is_said(test: str, says: str, tmp_path: Path) -> None:
    status, said = run(tmp_path, test, "-k", "schema or test_it")
    assert status != 0
    assert says in said


def test_nothing_of_proctor_is_imported_for_others() -> None:
    code = "import sys, proctor.pytest_plugin; print([m for m in sys.modules if m.startswith('proctor')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "['proctor', 'proctor.pytest_plugin']\n"
