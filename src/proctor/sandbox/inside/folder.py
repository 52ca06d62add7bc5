"""A nest without walls: guests share the keeper's world and have a scratch folder in it."""

import ctypes
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class Folder:
    """Guests of the portable tier."""

    def __init__(self, packages: list[tuple[str, str]]) -> None:
        """Make a scratch folder, and one in which the packages of the list are in sight."""
        self._place = os.path.realpath(tempfile.mkdtemp(prefix="proctor-"))
        self.scratch = f"{self._place}/scratch"
        os.mkdir(self.scratch)
        os.mkdir(f"{self._place}/packages")
        for name, path in packages:
            os.symlink(path, f"{self._place}/packages/{name}")
        sys.path.append(f"{self._place}/packages")
        self._guest = 0
        for number in IGNORED:  # whoever asks us to go closes the control socket
            signal.signal(number, signal.SIG_IGN)
        if sys.platform == "linux":  # orphans fall to us, and no guest may look at us
            prctl = ctypes.CDLL(None, use_errno=True).prctl
            prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)

    def fork(self) -> int:
        """Fork a guest."""
        self._guest = os.fork()
        return self._guest

    def enter(self, limits: dict[str, Any]) -> None:
        """Go, in the child, where guests live."""
        del limits  # none of them is the folder's business
        for number in (*IGNORED, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(self.scratch)

    def seal(self) -> None:
        """There are no walls to close."""

    def kill(self) -> None:
        """End the guest."""
        _signal_group(self._guest)

    def sweep(self, wait: Callable[[], bool]) -> None:
        """Kill until nothing is left; `wait` waits for one to die and says if there was one."""
        while True:
            _signal_group(self._guest)
            for pid in _children():
                _signal(pid)
            if not wait():
                return

    def wipe(self) -> None:
        """Empty the scratch folder."""
        for entry in os.scandir(self.scratch):
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)

    def remove(self) -> None:
        """Remove the folders."""
        _remove(self._place)


def _signal_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        _signal(pid)  # it has not made its group yet


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it died by itself


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []  # no such file here: the group is all we can reach


def _remove(path: str) -> None:
    """Remove a folder whatever rights its owner took away inside it."""

    def again(function: Callable[..., Any], name: str, _: Any) -> None:
        os.chmod(os.path.dirname(name), 0o700)
        if os.path.isdir(name) and not os.path.islink(name):
            os.chmod(name, 0o700)
            shutil.rmtree(name, ignore_errors=True)
        else:
            function(name)

    shutil.rmtree(path, onerror=again)
