"""Checks whether one case of a program left anything behind for the next one."""

import os
from typing import Any

from ..isolation.environment import ReusableEnvironment
from ..roles.program import MAIN, write_main

CONNECTION_SOCKETS = 2
"""Sockets between the keeper and the process that cases are forked from."""

MAX_LIMITS_BYTES = 1 << 12
"""Larger than /proc/PID/limits, which has a line for each resource limit."""


class LeakCheck:
    """Compares the state of a box before and after each case of one program."""

    def __init__(
        self, environment: ReusableEnvironment, init_pid: int, scratch_fd: int, source: memoryview
    ) -> None:
        """Watch the process that cases are forked from and the scratch folder with the program."""
        self._environment = environment
        self._init_pid = init_pid
        self._scratch_fd = scratch_fd
        self._limits_fd = os.open(f"/proc/{init_pid}/limits", os.O_RDONLY)
        self._source = bytearray(source)

    def record_baseline(self) -> None:
        """Record the state before the first run."""
        self._free_space_before = self._free_space()
        self._folder_state_before = self._folder_state()
        self._inherited_state_before = self._inherited_state()

    def is_clean(self) -> bool:
        """Return True if the run left nothing behind; then also rewrite main.py."""
        try:
            return (
                self._environment.free_orphaned_sockets(CONNECTION_SOCKETS)
                and self._free_space() == self._free_space_before
                and self._folder_state() == self._folder_state_before
                and self._inherited_state() == self._inherited_state_before
                and self._rewrite_main()
            )
        except OSError:
            return False  # the run removed main.py, or the process has died

    def close(self) -> None:
        """Stop checking, and wipe the program."""
        os.close(self._scratch_fd)
        os.close(self._limits_fd)
        self._source[:] = bytes(len(self._source))

    def _rewrite_main(self) -> bool:
        """Write the program's source again; return True.

        A run may have changed the file through a memory mapping, which leaves no trace, and may
        have written to the rest of the last page.
        """
        os.remove(MAIN, dir_fd=self._scratch_fd)
        write_main(self._source, self._scratch_fd)
        os.utime(self._scratch_fd)  # reset the access time, which a run could read
        self._folder_state_before = self._folder_state()
        return True

    def _inherited_state(self) -> Any:
        """Return what runs inherit from their parent and could change about it."""
        limits = os.pread(self._limits_fd, MAX_LIMITS_BYTES, 0)
        return limits, self._environment.inheritable_state(self._init_pid)

    def _free_space(self) -> Any:
        """Return the free blocks and inodes of the scratch folder.

        Every name takes some, and so does a deleted file whose descriptor waits in an orphaned
        socket. The names themselves are not listed: they would stay in the keeper's memory, and
        the next guest is a copy of that.
        """
        free = os.fstatvfs(self._scratch_fd)
        return free.f_bfree, free.f_ffree

    def _folder_state(self) -> Any:
        """Return values that change with any change in the folder or to the program."""
        attributes = len(os.listxattr(self._scratch_fd))
        main_status = os.stat(MAIN, dir_fd=self._scratch_fd, follow_symlinks=False)
        return _change_marker(os.fstat(self._scratch_fd)), _change_marker(main_status), attributes


def _change_marker(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
