"""A parser in a box, and answers whose findings are known."""

import pytest

from proctor.axes.parser import Parser
from proctor.benchmarks import OWN_FOLDER, load
from proctor.errors import InputError, SandboxError
from proctor.records.task import Task
from proctor.sandbox import Sandbox

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


LIBRARIES = ("conf", "series", "stock")
