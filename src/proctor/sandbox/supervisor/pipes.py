"""What lies between a guest and its supervisor: pipes for its streams, a connection if it has one.

Both ends of everything are made here. The guest's are closed once it has them, ours by whoever
listens to it; all of them are closed at once if one could not be made, or no guest comes of it.
"""

import os
import socket
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from proctor import fork_safe_fds


class GuestPipes:
    """The ends that a guest is given, and ours; used while a guest is being started."""

    def __init__(self, *, border: bool, fed: bool) -> None:
        self._theirs, self._ours = ExitStack(), ExitStack()
        self.feed: int | None = None
        """Where its standard input is written to, if it is fed."""
        self.border: socket.socket | None = None
        try:
            (out, write_out), (err, write_err) = self._pipe(), self._pipe()
            read = self._input(write_out, write_err) if fed else self._nothing()
            self.outputs = (out, err)
            self.given = [read, write_out, write_err]
            if border:
                self.border, theirs = fork_safe_fds.socketpair()
                self._ours.callback(self.border.close)
                self._theirs.callback(theirs.close)
                self.given.append(theirs.fileno())
        except BaseException:
            self._close()
            raise

    def _pipe(self) -> tuple[int, int]:
        read, write = fork_safe_fds.pipe()
        self._ours.callback(os.close, read)
        self._theirs.callback(os.close, write)
        return read, write

    def _nothing(self) -> int:
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._theirs.callback(os.close, nothing)
        return nothing  # a device, whose mode is not ours to change

    def _input(self, *writing: int) -> int:
        read, self.feed = fork_safe_fds.pipe()
        self._theirs.callback(os.close, read)
        self._ours.callback(os.close, self.feed)
        os.fchmod(read, 0o444)  # so that a guest, who is another user, can open /dev/stdin
        for fd in writing:
            os.fchmod(fd, 0o222)
        return read

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._ours.pop_all()
        self._close()

    def _close(self) -> None:
        self._theirs.close()
        self._ours.close()
