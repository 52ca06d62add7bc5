"""A parser in a box, and answers whose findings are known."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from proctor.axes.parser import Parser
from proctor.benchmarks import OWN_FOLDER, load
from proctor.errors import InputError, SandboxError
from proctor.sandbox import Sandbox
from proctor.task import Task

SUITE = OWN_FOLDER / "cpp_context"


@pytest.fixture(scope="session")
def parser(kernel: Sandbox) -> Parser:
    """Return a parser, or skip where there is no compiler or no libclang."""
    try:
        kernel.offer("cpp")
        return Parser(kernel)
    except (InputError, SandboxError) as error:
        pytest.skip(str(error))


def suite(library: str) -> dict[str, Task]:
    """Return the tasks of one library."""
    return {task.task_id: task for task in load(str(SUITE / library)).tasks}


def labelled(library: str) -> list[dict[str, Any]]:
    """Return the answers of one library whose findings are known."""
    text = Path(SUITE / library / "labels.toml").read_text()
    found: list[dict[str, Any]] = tomllib.loads(text)["completion"]
    return found


LIBRARIES = ("conf", "series", "stock")
