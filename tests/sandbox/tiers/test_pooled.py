"""What is loaded in a box before its first guest."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.judge.judge import Judge
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task, UnitTests
from proctor.records.verdict import Passed
from proctor.sandbox.supervisor.box_contents import BoxContents, inspect_interpreter
from proctor.sandbox.supervisor.packages import default_packages
from proctor.sandbox.supervisor.sessions import run_in_session
from proctor.sandbox.tiers.kernel import kernel_box
from proctor.sandbox.tiers.pooled import PooledSandbox
from proctor.sandbox.tiers.select import open_sandbox

QUICK = Limits().with_seconds(10)
MAKE = Callable[..., Path]


@pytest.fixture(scope="module")
def kernel() -> Iterator[PooledSandbox]:
    try:
        opened = open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    assert isinstance(opened, PooledSandbox)
    yield opened
    opened.close()


def test_slow_packages_are_loaded_where_tests_share_the_process(kernel: PooledSandbox) -> None:
    code = (
        "import unittest\n\nclass TestCases(unittest.TestCase):\n"
        "    def test_it(self):\n        self.assertTrue(f())\n"
    )
    task = Task(task_id="t", entry_point="f", tests=UnitTests(code=code), limits=QUICK)
    source = "import sys\nearly = 'numpy' in sys.modules\ndef f():\n    return early\n"
    assert isinstance(Judge(kernel).judge(task, Program(source=source)).verdict, Passed)
    alone = kernel.run(Program(source="import sys\nprint('n' + 'umpy' in sys.modules)"), QUICK)
    assert alone.stdout == b"False\n"


def test_a_package_that_fails_to_load_leaves_nothing_of_itself(
    kernel: PooledSandbox, tmp_path: Path
) -> None:
    package = tmp_path / "halfway"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import halfway.part, os\n"
        "if not os.path.exists('/tmp/main.py'):\n    raise RuntimeError('not here')\n"
    )
    (package / "part.py").write_text("loaded = True\n")
    for path in (package, *package.iterdir()):
        path.chmod(0o755)
    contents = BoxContents(
        interpreter=inspect_interpreter(sys.executable),
        packages=[("halfway", str(package))],
        preload=["halfway", "json"],
    )
    box = kernel_box(contents)
    try:
        source = (
            "import sys\nprint('halfway.part' in sys.modules, 'json' in sys.modules)\n"
            "import halfway\nprint(halfway.part.loaded)\n"
        )
        execution = run_in_session(box, Program(source=source), QUICK, b"")
        assert execution.stdout == b"False True\nTrue\n", execution.stderr
    finally:
        box.close()


def test_what_packages_write_while_they_load_is_not_in_sight(
    kernel: PooledSandbox, tmp_path: Path
) -> None:
    module = tmp_path / "writer.py"
    module.write_text(
        "import os\nopen('/tmp/left', 'w').close()\nwrote = os.path.exists('/tmp/left')\n"
    )
    module.chmod(0o755)
    contents = BoxContents(
        interpreter=inspect_interpreter(sys.executable),
        packages=[("writer.py", str(module))],
        preload=["writer"],
    )
    box = kernel_box(contents)
    try:
        source = "import os, sys\nprint('writer' in sys.modules, os.listdir('/tmp'))\n"
        execution = run_in_session(box, Program(source=source), QUICK, b"")
        assert execution.stdout == b"True ['main.py']\n", execution.stderr
    finally:
        box.close()


def test_packages_wished_for_are_those_installed() -> None:
    sites = inspect_interpreter(sys.executable).sites
    chosen = default_packages(sites, ("PyTest", "no-such-package", "numpy"))
    assert "pytest" in chosen
    assert "no-such-package" not in chosen
    assert chosen.count("numpy") <= 1


def test_a_box_starts_whatever_its_starter_does_not_hear(kernel: PooledSandbox) -> None:
    code = """
import signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from proctor.records.program import Program
from proctor.records.limits import Limits
from proctor.sandbox.tiers.select import open_sandbox
sandbox = open_sandbox("kernel", sys.executable)
print(sandbox.run(Program(source="print(6 * 7)"), Limits()).stdout)
sandbox.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "b'42\\n'\n", done.stderr
