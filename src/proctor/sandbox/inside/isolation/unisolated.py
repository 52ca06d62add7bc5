"""An environment without isolation: guests only get a scratch folder and a process group."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .cleanup import empty_folder, end_children, kill_and_reap
from .environment import GuestEnvironment, Step

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


class Unisolated(GuestEnvironment):
    """Guests of the portable tier."""

    def __init__(self, folder: str) -> None:
        """Use a folder that contains the folders `scratch` and `packages`."""
        self._folder = folder
        self.scratch = f"{self._folder}/scratch"
        sys.path.append(f"{self._folder}/packages")
        self._guest = 0
        for number in IGNORED:  # the keeper ends when its control socket is closed
            signal.signal(number, signal.SIG_IGN)
        # adopt orphans, and let no guest read this process
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_DUMPABLE, 0)

    def open(self) -> None:
        """Do nothing: the set-up is complete."""

    def fork(self) -> int:
        """Fork a guest."""
        self._guest = os.fork()
        return self._guest

    def enter_steps(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Return the steps that reset signals and change to the scratch folder."""
        del limits, free
        return (
            *((signal.signal, (number, signal.SIG_DFL)) for number in (*IGNORED, signal.SIGCHLD)),
            (signal.signal, (signal.SIGINT, signal.default_int_handler)),
            # a keeper that was killed cannot kill its guest
            (_prctl, (PR_SET_PDEATHSIG, signal.SIGKILL)),
            (os.chdir, (self.scratch,)),
        )

    def seal_steps(self) -> Sequence[Step]:
        """Return no steps: a guest keeps its rights."""
        return ()

    def kill(self) -> None:
        """Kill the guest and its process group."""
        _signal_group(self._guest)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """Kill what the guest left running."""
        _signal_group(self._guest)
        end_children(wait)

    def wipe(self) -> None:
        """Empty the scratch folder."""
        empty_folder(self.scratch)

    def remove(self) -> None:
        """Remove the folders."""
        empty_folder(self._folder)
        os.rmdir(self._folder)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _signal_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        kill_and_reap(pid)  # the guest has not created its group yet
