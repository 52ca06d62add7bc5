"""The scripts in `benchmarks/` start; what they measure is not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "benchmarks"
IMPORTED_ONLY = {"machine.py"}


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_script_starts(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, path, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert path.name in IMPORTED_ONLY or done.stdout.startswith("usage: ")
