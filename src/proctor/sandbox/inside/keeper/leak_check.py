"""What one case of a series could leave behind for the next; the keeper checks for it."""

import os
from typing import Any

from ..isolation.environment import ReusableEnvironment
from ..roles.program import MAIN, write_main

LINE_SOCKETS = 2
"""Sockets between the keeper and the first process of a series."""

MAX_LIMITS = 1 << 12
"""More than the kernel says of all resource limits of a process, each in a line."""


class LeakCheck:
    """Those of the cases of one program, which run one after the other in one scratch folder."""

    def __init__(
        self, nest: ReusableEnvironment, first: int, scratch: int, source: memoryview
    ) -> None:
        """Take the first process, a descriptor of the folder, and the text of the program in it."""
        self._nest = nest
        self._first = first
        self._scratch = scratch
        self._limits = os.open(f"/proc/{first}/limits", os.O_RDONLY)
        self._source = bytearray(source)

    def record_baseline(self) -> None:
        """Record the state before the first run."""
        self._room = self._look_at_room()
        self._folder = self._look_at_folder()
        self._inherited = self._look_at_first()

    def is_clean(self) -> bool:
        """Return whether the run left nothing behind; if so, also prepare for the next one."""
        try:
            return (
                self._nest.tidy(LINE_SOCKETS)
                and self._look_at_room() == self._room
                and self._look_at_folder() == self._folder
                and self._look_at_first() == self._inherited
                and self._renew_main()
            )
        except OSError:
            return False  # main.py is gone, or all of it

    def close(self) -> None:
        """Look no more, and keep nothing of the program."""
        os.close(self._scratch)
        os.close(self._limits)
        self._source[:] = bytes(len(self._source))

    def _renew_main(self) -> bool:
        """Write the program's text anew.

        Writes to a file through memory leave no trace, and also change the rest of its last page.
        """
        os.remove(MAIN, dir_fd=self._scratch)
        write_main(self._source, self._scratch)
        os.utime(self._scratch)  # or the time of the last look at it would stay
        self._folder = self._look_at_folder()
        return True

    def _look_at_first(self) -> Any:
        """Return what all runs inherit from the first process, and each could change about it."""
        return os.pread(self._limits, MAX_LIMITS, 0), self._nest.inherited(self._first)

    def _look_at_room(self) -> Any:
        """Return how much room files leave.

        Every name takes some, and so does a file without one whose descriptor was sent to a socket
        that nobody can receive from any more. Nobody asks for the names themselves: they would stay
        in our memory, of which the next guest is a copy.
        """
        room = os.fstatvfs(self._scratch)
        return room.f_bfree, room.f_ffree

    def _look_at_folder(self) -> Any:
        """Return what changes when anybody changes anything in the folder, or the program."""
        more = len(os.listxattr(self._scratch))
        main = os.stat(MAIN, dir_fd=self._scratch, follow_symlinks=False)
        return _changed(os.fstat(self._scratch)), _changed(main), more


def _changed(of: os.stat_result) -> tuple[int, ...]:
    return of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns
