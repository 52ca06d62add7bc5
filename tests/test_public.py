"""The public face: names, what importing costs, and the ways in."""

import subprocess
import sys

import pytest

import proctor

NAMES = """
BASE_IMPORTS EXIT_ASSERTION_FAIL EXIT_ERROR EXIT_PASS EXIT_SYNTAX_ERROR EXIT_TIMEOUT AsyncClient
Client evaluate execute extract_code extract_code_from_model extract_python_code grade grade_many pass_at_k
pass_at_k_estimator process_input_output run_candidate score_code_exec strip_markdown_fences
validate_results
"""
HEAVY = ("torch", "ray", "numpy", "scipy", "litestar", "httpx2", "httpx", "pandas", "transformers")


def python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)


def imported(*args: str) -> set[str]:
    """Return all modules that a process had imported in the end."""
    ran = python("-X", "importtime", *args)
    assert ran.returncode == 0, ran.stderr
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_the_names_are_these_and_no_others() -> None:
    assert proctor.__all__ == NAMES.split()
    assert dir(proctor) == sorted(NAMES.split())


@pytest.mark.parametrize("name", NAMES.split())
def test_every_name_can_be_had_and_says_what_it_is(name: str) -> None:
    value = getattr(proctor, name)
    assert not callable(value) or value.__doc__


def test_a_name_that_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'proctor' has no attribute 'nope'"):
        _ = proctor.nope


def test_star_import() -> None:
    ran = python("-c", "from proctor import *; print(pass_at_k(2, 1, 1), extract_code('x'))")
    assert ran.stdout == "0.5 x\n"


def test_importing_the_package_does_nothing() -> None:
    loaded = imported("-c", "import proctor")
    assert {name for name in loaded if name.startswith("proctor")} == {"proctor"}
    assert "msgspec" not in loaded
    assert "typer" not in loaded


def test_importing_everything_imports_nothing_heavy() -> None:
    loaded = imported("-c", "from proctor import *")
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, "typer", "rich"}


@pytest.mark.parametrize("args", [("--help",), ("score", "--help"), ("--version",)])
def test_the_command_line_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    loaded = imported("-m", "proctor", *args)
    assert not {name.partition(".")[0] for name in loaded} & set(HEAVY)


def test_python_m_proctor_is_proctor() -> None:
    ran = python("-m", "proctor", "--version")
    assert (ran.returncode, ran.stdout.split()[0], ran.stderr) == (0, "proctor", "")
    assert python("-m", "proctor", "nope").returncode == 2
