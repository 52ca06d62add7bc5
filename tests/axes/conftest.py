"""A parser in a box, and answers whose findings are known."""

import pytest

from proctor.axes.parser import Parser
from proctor.benchmarks import OWN_FOLDER, load
from proctor.records.task import Task
from proctor.sandbox import Sandbox
from tests.requires import requires_language

SUITE = OWN_FOLDER / "cpp_context"


@pytest.fixture(scope="session")
def parser(kernel: Sandbox) -> Parser:
    """Return a parser, or skip without a compiler."""
    requires_language(kernel, "cpp")
    return Parser(kernel)


def suite(library: str) -> dict[str, Task]:
    """Return the tasks of one library."""
    return {task.task_id: task for task in load(str(SUITE / library)).tasks}


LIBRARIES = ("conf", "series", "stock")
