"""A nest without walls: guests share the keeper's world and have a scratch folder in it."""

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


class Folder(GuestEnvironment):
    """Guests of the portable tier."""

    def __init__(self, place: str) -> None:
        """Take a place with a scratch folder in it, and one with the packages in sight."""
        self._place = place
        self.scratch = f"{self._place}/scratch"
        sys.path.append(f"{self._place}/packages")
        self._guest = 0
        for number in IGNORED:  # whoever asks us to go closes the control socket
            signal.signal(number, signal.SIG_IGN)
        # orphans fall to us, and no guest may look at us
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_DUMPABLE, 0)

    def open(self) -> None:
        """Nothing is left to be done."""

    def fork(self) -> int:
        """Fork a guest."""
        self._guest = os.fork()
        return self._guest

    def entering(self, limits: dict[str, Any], free: int) -> Sequence[Step]:
        """Have signals as every program has them, and go to the scratch folder."""
        del limits, free  # none of that is the folder's business
        return (
            *((signal.signal, (number, signal.SIG_DFL)) for number in (*IGNORED, signal.SIGCHLD)),
            (signal.signal, (signal.SIGINT, signal.default_int_handler)),
            # a keeper that is killed can kill nobody
            (_prctl, (PR_SET_PDEATHSIG, signal.SIGKILL)),
            (os.chdir, (self.scratch,)),
        )

    def sealing(self) -> Sequence[Step]:
        """There are no walls to close."""
        return ()

    def kill(self) -> None:
        """End the guest."""
        _signal_group(self._guest)

    def sweep(self, wait: Callable[[int], bool]) -> None:
        """End what the guest left running."""
        _signal_group(self._guest)
        end_children(wait)

    def wipe(self) -> None:
        """Empty the scratch folder."""
        empty_folder(self.scratch)

    def remove(self) -> None:
        """Remove the folders."""
        empty_folder(self._place)
        os.rmdir(self._place)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _signal_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        kill_and_reap(pid)  # it has not made its group yet
