"""Tests whose tools are missing are skipped, or fail if REQUIRE_TOOLS=1 is set."""

import os
import subprocess
import sys

import pytest

from tests.requires import SCRIPT, TOOLS


def pytest_without_compilers(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "tests/languages/test_gcc.py"],
        env={**os.environ, "PATH": "/nowhere", **environment},
        cwd=SCRIPT.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_missing_tool_skips_and_is_named_once() -> None:
    ran = pytest_without_compilers(REQUIRE_TOOLS="")
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.count("not tested here: cpp (apt install g++): ") == 1


@pytest.mark.slow
def test_missing_tool_fails_where_tools_are_required() -> None:
    ran = pytest_without_compilers(REQUIRE_TOOLS="1")
    assert ran.returncode == 1
    assert "REQUIRE_TOOLS=1, but cpp is missing (apt install g++)" in ran.stdout


def test_script_lists_every_tool() -> None:
    script = SCRIPT.ROOT / "scripts" / "install-test-tools"
    ran = subprocess.run(
        [sys.executable, script, "--list"], capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in ran.stdout.splitlines()] == list(TOOLS)
