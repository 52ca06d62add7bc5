"""What tests share: the real data where it is at hand, a sandbox of every tier that works here."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from proctor.sandbox import Sandbox
from proctor.sandbox.choose import TIERS
from proctor.sandbox.portable import ENVIRONMENT

# Two busy cores make a first example slow; deadlines would then fail at random.
settings.register_profile(
    "proctor", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("proctor")

DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with real benchmark files, or skip."""
    if not DATA.is_dir():
        pytest.skip("the benchmark files of ../shared/data are not on this machine")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def scratch_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have keepers make their scratch folders where nobody else makes any."""
    folder = tmp_path_factory.mktemp("scratch")
    folder.chmod(0o777)
    ENVIRONMENT["TMPDIR"] = str(folder)
    return folder


@pytest.fixture(scope="session", params=list(TIERS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each tier in turn; every test that takes it runs on all of them."""
    opened = TIERS[request.param](sys.executable)
    yield opened
    opened.close()


def descendants(pid: int) -> set[int]:
    """Return every process below a process."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        current = pending.pop()
        for task in Path(f"/proc/{current}/task").glob("*/children"):
            children = {int(child) for child in task.read_text().split()}
            found |= children
            pending += children
    return found


class Remains:
    """What a piece of work may leave behind: processes, descriptors, scratch folders."""

    def __init__(self) -> None:
        self.processes = descendants(os.getpid())
        self.descriptors = set(os.listdir("/proc/self/fd"))
        self.folders = set(os.listdir(ENVIRONMENT["TMPDIR"]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remains) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"Remains({vars(self)})"


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fail a test that leaves a process or a descriptor behind."""
    before = Remains()
    yield
    assert Remains() == before
