"""What a run could leave behind for the next one of its series, looked at by the keeper."""

from __future__ import annotations

import os

from .light import TYPE_CHECKING
from .program import MAIN, write_main

if TYPE_CHECKING:
    from typing import Any

    from .nest import SerialNest

LINE_SOCKETS = 2
"""Sockets between the keeper and the first process of a series."""


class Traces:
    """Those of one program, which runs again and again in one scratch folder."""

    def __init__(self, nest: SerialNest, first: int, scratch: int, source: memoryview) -> None:
        """Take the first process, the folder and the program's text as they are before all runs."""
        self._nest = nest
        self._first = first
        self._scratch = scratch
        self._source = bytearray(source)
        self._files = self._look()
        self._inherited = nest.inherited(first)

    def none(self) -> bool:
        """Say whether a run left none; if so, all is made ready for the next."""
        return (
            self._nest.tidy(LINE_SOCKETS)
            and self._look() == self._files
            and self._nest.inherited(self._first) == self._inherited
            and self._renew()
        )

    def close(self) -> None:
        """Look no more, and keep nothing of the program."""
        os.close(self._scratch)
        self._source[:] = bytes(len(self._source))

    def _renew(self) -> bool:
        """Write the program's text anew.

        Who writes to a file by way of memory leaves no trace, and leaves more than what is in it:
        the rest of its last page.
        """
        try:
            os.remove(MAIN, dir_fd=self._scratch)
            write_main(self._source, self._scratch)
        except OSError:
            return False
        self._files = self._look()
        return self._files is not None

    def _look(self) -> Any:
        """Return what changes when anybody changes anything in the folder.

        A file without a name may still take room, if its descriptor was sent to a socket that
        nobody can receive from any more.
        """
        try:
            room = os.fstatvfs(self._scratch)
            main = os.stat(MAIN, dir_fd=self._scratch, follow_symlinks=False)
            return (
                *(os.listdir(self._scratch), room.f_bfree, room.f_ffree),
                *(_changed(os.fstat(self._scratch)), _changed(main)),
            )
        except OSError:
            return None


def _changed(of: os.stat_result) -> tuple[int, ...]:
    return of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns
