"""Help pages are pinned; misuse is one sentence."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from proctor.cli import main
from proctor.cli.app import SUMMARIES, load
from proctor.errors import InputError

COMMANDS = [
    "run",
    "score",
    "generate",
    "prompts",
    "exec",
    "report",
    "compare",
    "failures",
    "history",
    "verify",
    "view",
    "serve",
    "watch",
    "qa",
    "mcp",
    "benchmarks",
    "contract",
    "convert",
    "evalplus",
    "doctor",
    "selftest",
    "perplexity",
    "parity",
    "axes",
    "bench",
    "keys",
]
PARTS = ["bench sandbox", "bench model", "keys new", "keys list", "keys remove"]
Proctor = Callable[..., Any]


@pytest.mark.parametrize("command", ["", *COMMANDS, *PARTS])
def test_help(proctor: Proctor, snapshot: SnapshotAssertion, command: str) -> None:
    ran = proctor(*command.split(), "--help")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == snapshot
    assert proctor(*command.split(), "-h").out == ran.out


def test_every_command_has_a_page(proctor: Proctor) -> None:
    listed = proctor("--help").out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_summary_is_the_help_of_the_command(command: str) -> None:
    assert load(command).help == SUMMARIES[command]


def test_root_help_imports_no_command_and_nothing_large() -> None:
    code = (
        "import resource, sys\n"
        "from proctor.cli.app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "usage = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(usage.ru_utime + usage.ru_stime, *sys.modules, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    cpu_seconds, *modules = ran.stderr.split()
    assert float(cpu_seconds) < 0.3
    assert not {"torch", "ray", "numpy", "litestar", "httpx2", "rich"} & set(modules)
    assert not [name for name in modules if name.startswith("proctor.cli.commands.")]


def test_misspelt_command_is_suggested(proctor: Proctor) -> None:
    said = "No such command 'evalpuls'. Did you mean 'evalplus'?; see proctor --help"
    assert proctor("evalpuls").complaint == said


def test_nobody_is_left_without_help(proctor: Proctor) -> None:
    assert proctor() == proctor("--help")


def test_version(proctor: Proctor) -> None:
    ran = proctor("--version")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("proctor ")
    assert len(ran.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope"], "No such command 'nope'; see proctor --help"),
        (["score"], "Missing argument 'benchmark'; see proctor score --help"),
        (["score", "x"], "Missing option '--completions'; see proctor score --help"),
        (["run", "x"], "Missing option '--model'; see proctor run --help"),
        (["score", "x", "--completions", "y", "z"], "Got unexpected extra argument(s) (z); see proctor score --help"),
        (["score", "x", "--completions"], "Option '--completions' requires an argument; see proctor --help"),
    ],
)  # fmt: skip
def test_misuse(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor(*args)
    assert (ran.status, ran.out, ran.complaint) == (2, "", said)


@pytest.mark.parametrize(
    "args",
    [
        ["--workers", "many"],
        ["--workers", "-1"],
        ["--max-tests", "0"],
        ["--extract", "sometimes"],
        ["--preamble", "all"],
        ["--min-agreement", "2"],
        ["--show", "-1"],
        ["--seed", "x"],
        ["--timeout", "long"],
    ],
)
def test_values_that_are_none(proctor: Proctor, args: list[str]) -> None:
    ran = proctor("score", "x", "--completions", "y", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(f"Invalid value for '{args[0]}': ")
    assert ran.complaint.endswith("; see proctor score --help")


@pytest.mark.parametrize(
    "args",
    [
        ["\x1b[31mred"],
        ["--\x1b]0;title\x07"],
        ["score", "x", "--completions", "y", "\x1b[2J"],
        ["score", "x", "--completions", "y", "--workers", "\x9b31m"],
        ["score", "\x1b[31mred", "--completions", "y"],
        ["run", "humaneval", "--model", "\x1b[31mred\x9b"],
        ["report", "\x1b[31mred\u202e"],
        ["exec", "\x1b[31mred"],
        ["benchmarks", "\x1b[31mred"],
    ],
)
def test_what_one_types_cannot_steer_the_terminal(proctor: Proctor, args: list[str]) -> None:
    ran = proctor(*args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint


def test_a_very_long_message_is_cut(proctor: Proctor) -> None:
    assert len(proctor("benchmarks", "x" * 100_000).complaint) < 10_000


def test_a_defect_is_called_one(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("\x1b[31mhostile")

    monkeypatch.setattr("proctor.cli.commands.benchmarks.load_settings", broken)
    ran = proctor("benchmarks")
    assert (ran.status, ran.out) == (3, "")
    lines = ran.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2] == "ZeroDivisionError: \\x1b[31mhostile"
    assert (
        lines[-1] == "proctor: this is a defect of Proctor; please report it with the lines above"
    )


def test_errors_have_their_status(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise InputError("no")

    monkeypatch.setattr("proctor.cli.commands.benchmarks.load_settings", refuse)
    ran = proctor("benchmarks")
    assert (ran.status, ran.complaint) == (2, "no")


def test_ctrl_c_anywhere_is_130(proctor: Proctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("proctor.cli.commands.benchmarks.load_settings", interrupted)
    ran = proctor("benchmarks")
    assert (ran.status, ran.out, ran.complaint) == (130, "", "interrupted")


def test_main_is_the_entry_point() -> None:
    from importlib.metadata import entry_points

    (script,) = [one for one in entry_points(group="console_scripts") if one.name == "proctor"]
    assert script.load() is main
