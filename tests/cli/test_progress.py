"""The bar is for terminals; others are left in peace."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.cli.progress import SHORT, GradingBar
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket, Outcome


def test_every_outcome_has_a_word() -> None:
    assert set(SHORT) == set(Outcome)


def test_quiet_where_stderr_is_no_terminal(
    capsys: pytest.CaptureFixture[str], receipt: Callable[..., Receipt]
) -> None:
    with GradingBar() as bar:
        bar.begin(3, 1, Path("run"))
        bar.watch(receipt(0))
        bar.watch(receipt(1, Bucket.HARNESS))
    assert capsys.readouterr() == ("", "")
    assert bar._counts == {"pass": 1, "unscored": 1}


CODE = """
import sys
from pathlib import Path
from proctor.cli.progress import GradingBar
from types import SimpleNamespace
with GradingBar() as bar:
    bar.begin(40, 10, Path("run"))
    for n in range(30):
        bar.watch(SimpleNamespace(outcome="pass" if n % 2 else None))
    bar._progress.refresh()
print("result")
"""


def test_a_terminal_sees_counts_and_outcomes() -> None:
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=follower, env=environment
    ) as process:
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 4096):
                shown += chunk
        except OSError:
            pass  # the other end is closed
        os.close(leader)
        assert process.stdout is not None
        assert process.stdout.read() == b"result\n"
    assert process.returncode == 0
    text = shown.decode()
    assert "40/40" in text
    assert "pass 15" in text
    assert "unscored 15" in text
