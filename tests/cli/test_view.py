"""`proctor view`: from the command line to a page."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

Proctor = Callable[..., Any]


@pytest.fixture
def run(proctor: Proctor, alone: Path) -> Path:
    """Make a run with `proctor run`."""
    path = alone / "runs" / "basics"
    assert (
        proctor("run", "basics", "--model", "reference", "--samples", 6, "--out", path).status == 0
    )
    return path


def test_a_server_from_the_beginning_to_ctrl_c(run: Path) -> None:
    command = [sys.executable, "-m", "proctor", "view", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        found = re.search(r"showing runs at (http://127\.0\.0\.1:\d+/)", line)
        assert found, line
        with urlopen(found[1], timeout=30) as answer:
            text = answer.read().decode()
        server.send_signal(signal.SIGINT)
        said = server.stderr.read()
        assert (server.wait(30), said) == (0, "")
    assert "100.0 %" in text
    assert (Path(os.environ["HOME"]) / ".cache" / "proctor" / "view").is_dir()


def test_an_export(proctor: Proctor, run: Path, alone: Path) -> None:
    ran = proctor("view", run, "--export", "site")
    assert (ran.status, ran.out) == (0, "site: 8 pages of 1 runs and 0 comparisons\n")
    assert (alone / "site" / "index.html").is_file()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing"], "nothing is no folder; name one that holds runs"),
        (["--port", "70000"], "Invalid value for '--port'"),
    ],
)
def test_bad_input(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("view", *args)
    assert ran.status == 2
    assert said in ran.complaint


def test_without_the_extra(proctor: Proctor, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (alone / "runs").mkdir()
    monkeypatch.setattr("proctor.cli.commands.view.NEEDED", ("jinja2", "no_such_package"))
    ran = proctor("view")
    said = "the viewer needs no_such_package; install it with pip install '.[serve]' in Proctor's folder"
    assert (ran.status, ran.complaint) == (2, said)


def test_help_loads_nothing_of_it() -> None:
    heavy = "litestar, uvicorn, jinja2, pygments, sqlite3, proctor.viewer"
    code = (
        "import sys; sys.argv = ['proctor', 'view', '--help']\n"
        "from proctor.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in '{heavy}'.split(', ') if name in sys.modules], file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stderr == "[]\n"
