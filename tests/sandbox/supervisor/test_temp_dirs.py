"""Folders of boxes go with those who need them, however these end."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SandboxError
from proctor.records.limits import Limits
from proctor.sandbox.supervisor import temp_dirs as module
from proctor.sandbox.supervisor.temp_dirs import PREFIX, LockedTempDir, _in_use, sweep
from proctor.sandbox.tiers.select import open_sandbox

TIERS = ("contained", "portable")
OTHER = 59_999
"""A user that nobody is."""


def nothing(folder: Path) -> None:
    """Leave a folder empty."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have folders made where nobody else makes any, and swept whenever one is made."""
    folder = tmp_path / "places"
    folder.mkdir()
    folder.chmod(0o777)
    for parent in (folder, *folder.parents[:4]):
        parent.chmod(parent.stat().st_mode | 0o011)
    monkeypatch.setitem(module.ENVIRONMENT, "TMPDIR", str(folder))
    sweep.cache_clear()
    yield folder
    sweep.cache_clear()


def eventually(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return what()


def open_tier(tier: str) -> Any:
    try:
        return open_sandbox(tier, sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))


def test_a_place_is_filled_held_and_removed(folder: Path, all_closed: None) -> None:
    place = LockedTempDir(lambda made: (made / "scratch").mkdir())
    assert (place.path / "scratch").is_dir()
    sweep.cache_clear()
    sweep(folder)
    assert place.path.exists(), "it is ours as long as we hold it"
    place.remove()
    place.remove()
    assert not list(folder.iterdir())


def test_what_cannot_be_filled_is_not_left(folder: Path, all_closed: None) -> None:
    def fill(made: Path) -> None:
        (made / "scratch").mkdir()
        (made / "no" / "such").mkdir()

    with pytest.raises(SandboxError, match=r"^cannot make a folder for a box: No such file"):
        LockedTempDir(fill)
    assert not list(folder.iterdir())


def test_no_folder_for_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module.ENVIRONMENT, "TMPDIR", "/no/such/folder")
    with pytest.raises(SandboxError, match=r"^cannot make a folder for a box: No such file"):
        LockedTempDir(nothing)


def test_only_what_a_box_left_is_swept(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "scratch").mkdir(parents=True)
    left = folder / f"{PREFIX}left"
    (left / "scratch" / "deep" / "er").mkdir(parents=True)
    (left / "scratch" / "deep").chmod(0)
    (left / "packages").mkdir()
    (left / "packages" / "link").symlink_to(elsewhere)
    (left / "0123456789abcdef12").mkdir()  # it was being emptied
    (folder / f"{PREFIX}empty").mkdir()
    kept = [folder / f"{PREFIX}{name}" for name in ("thesis", "link", "file", "held")] + [
        folder / "proctor-results",
        elsewhere / "scratch",
    ]
    (kept[0] / "scratch").mkdir(parents=True)
    (kept[0] / "thesis.tex").touch()
    kept[1].symlink_to(elsewhere)
    kept[2].touch()
    kept[3].mkdir()
    kept[4].mkdir()
    holds = os.open(kept[3], os.O_RDONLY)
    fcntl.flock(holds, fcntl.LOCK_EX)
    LockedTempDir(nothing).remove()
    os.close(holds)
    assert not left.exists()
    assert all(path.exists() for path in kept)
    assert len(list(folder.iterdir())) == 5


def test_folders_of_others_are_left_to_them(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder of somebody else")
    theirs = folder / f"{PREFIX}theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    ours = folder / f"{PREFIX}ours"
    (ours / "scratch").mkdir(parents=True)
    os.chown(ours / "scratch", 12345, 12345)
    with subprocess.Popen(["sleep", "60"], user=12345) as guest:  # still at work in it
        LockedTempDir(nothing).remove()
        assert ours.exists()
        guest.kill()
    sweep.cache_clear()
    LockedTempDir(nothing).remove()
    assert theirs.exists()
    assert not ours.exists()


def test_a_file_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(37, "No locks available")

    (folder / f"{PREFIX}perhaps-in-use").mkdir()
    monkeypatch.setattr(fcntl, "flock", refuse)
    LockedTempDir(nothing).remove()
    assert [path.name for path in folder.iterdir()] == [f"{PREFIX}perhaps-in-use"]


RACE = """
import sys
from pathlib import Path
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.temp_dirs import LockedTempDir, sweep
ENVIRONMENT["TMPDIR"] = sys.argv[1]
for _ in range(200):
    sweep.cache_clear()
    place = LockedTempDir(lambda folder: (folder / "scratch").mkdir())
    assert (place.path / "scratch").exists()
    place.remove()
"""


def test_makers_and_sweepers_at_once(folder: Path) -> None:
    """Nobody sweeps away what another has just made."""
    makers = [
        subprocess.Popen([sys.executable, "-c", RACE, folder], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    for maker in makers:
        _, said = maker.communicate(timeout=120)
        assert (maker.returncode, said) == (0, b"")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("tier", TIERS)
def test_a_keeper_that_is_killed(folder: Path, tier: str, all_closed: None) -> None:
    """Its guest goes with it, its folder with the supervisor's next step."""
    sandbox = open_tier(tier)
    session = sandbox.session(Limits())
    keeper = session._box.keeper
    guest = session._box.start("candidate", Limits())
    children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    assert len(children) == 1
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{children[0]}").exists())
    guest.finish()
    session.close()
    sandbox.close()
    sweep.cache_clear()
    LockedTempDir(nothing).remove()  # as root, the guest may have been seen for a moment longer
    assert not list(folder.iterdir())


HOLDS = """
import sys, time
from proctor.records.limits import Limits
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.tiers.select import open_sandbox
ENVIRONMENT["TMPDIR"] = sys.argv[2]
session = open_sandbox(sys.argv[1], sys.executable).session(Limits())
session.write("a/file", b"x")
print(session._box.keeper, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("both", [False, True])
def test_a_supervisor_that_is_killed(folder: Path, tier: str, both: bool) -> None:
    """Alone, its keeper cleans up; with its keeper, the next one does who makes a folder."""
    open_tier(tier).close()
    command = [sys.executable, "-c", HOLDS, tier, folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        keeper = int(supervisor.stdout.readline())
        (left,) = [path for path in folder.iterdir() if (path / "scratch" / "a").exists()]
        sweep.cache_clear()
        LockedTempDir(nothing).remove()
        assert left.exists(), "it is in use"
        if both:
            os.kill(keeper, signal.SIGSTOP)
        supervisor.kill()
        supervisor.wait()
        if both:
            os.kill(keeper, signal.SIGKILL)
    if both:
        assert eventually(lambda: not Path(f"/proc/{keeper}").exists())
        assert left.exists()
        sweep.cache_clear()
        LockedTempDir(nothing).remove()
    assert eventually(lambda: not list(folder.iterdir()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_guest_that_is_dead_uses_nothing(folder: Path) -> None:
    """Also if nobody waits for it, as in a container without an init; one that lives is waited for."""
    path = folder / "proctor-box-guest"
    (path / "scratch").mkdir(parents=True)
    os.chown(path / "scratch", OTHER, OTHER)
    guest = subprocess.Popen(["sleep", "60"], user=OTHER, group=OTHER, extra_groups=[])
    assert eventually(lambda: _in_use(path))
    guest.kill()
    assert eventually(lambda: not _in_use(path))
    assert guest.returncode is None, "nobody has waited for it"
    guest.wait()
