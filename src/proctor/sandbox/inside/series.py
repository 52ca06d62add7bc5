"""A series: one program whose runs all fork from a process that has its walls already.

That process is the first one of the program's pid namespace and comes from the keeper, as a guest
does: it puts up all walls, compiles the program, and from then on forks a fresh process for every
input. Nobody inside can signal it or look into it. It hears of a run by three descriptors that come
over a line; the input is in the first of them, and what is expected is nowhere in the box. When a
run has ended it kills whatever is left in the namespace. A run that has left any trace is the last
one: the next is in need of new walls. That is for the keeper to see (`traces.py`), because whatever
this process touches between two forks the kernel has to copy or to set free again.

The time that a series takes is watched from outside, as that of any guest.
"""

from __future__ import annotations

import errno
import gc
import os
import struct

from .light import TYPE_CHECKING, socket
from .program import compile_main, main_names, run_main
from .traces import Traces

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from .nest import Nest, SerialNest, Ward

LINE, STATUS = 3, 4
REPORT = struct.Struct("=i4x18q18q")
"""A status, what its process took, and what all took that were waited for so far (wait4(2))."""
USER, SYSTEM, MEMORY = slice(0, 2), slice(2, 4), 4
FD = struct.Struct("i")
MAX_FDS = 4
SPACE = socket.CMSG_SPACE(MAX_FDS * FD.size)


class First(BaseException):
    """We are the first process of new walls, and are to forget all else: guests could read it."""

    def __init__(self, begin: Callable[[], NoReturn]) -> None:
        super().__init__()
        self.begin = begin


class Series:
    """A series as its keeper sees it."""

    def __init__(self, ward: Ward, connection: socket.socket, order: dict[str, Any]) -> None:
        self.ward = ward
        self.order = order
        self.line = connection.fileno()
        self._connection = connection
        self._traces: Traces | None = None
        self._alive = True
        self._cpu_seconds, self._memory = 0.0, 0
        self._said = b""
        self._beside: list[tuple[int, int, bytes]] = []

    def begin(self, *fds: int) -> None:
        """Have one more run, with these for its input and outputs."""
        beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(FD.pack, fds)))]
        try:
            self._connection.sendmsg([b"."], beside)
        except OSError:
            pass  # it has died, which the keeper is about to see

    def hear(self) -> bool:
        """Take what it says, if it still says something."""
        try:
            self._said, self._beside, _, _ = self._connection.recvmsg(REPORT.size, SPACE)
        except OSError:
            self._said = b""  # it died before it had heard of the run
        return bool(self._said)

    def settled(self, nest: SerialNest, source: memoryview | None) -> None:
        """Look from now on at where it runs, which came with what it said first.

        There is a text only if it is one program that runs there.
        """
        if not self._beside:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        (scratch,) = FD.unpack(self._beside[0][2])
        self._traces = Traces(nest, self.ward.pid, scratch, source)
        self._traces.begin()

    def told(self, code: int | None) -> tuple[int, float, int, bytes]:
        """Return how a run ended, what it took, and whether there can be another.

        `code` is how the whole series ended, if it did. It is `kept`, `spent` or `gone`.
        """
        if code is not None:
            self._alive = False
            return code, 0.0, 0, b"gone"  # what is told of it is of all that ever ran there
        status, *usage = REPORT.unpack(self._said)
        alone, of_all = usage[:18], usage[18:]
        seconds = sum(whole + micro / 1e6 for whole, micro in (of_all[USER], of_all[SYSTEM]))
        spent, self._cpu_seconds = seconds - self._cpu_seconds, seconds
        grown, self._memory = of_all[MEMORY] > self._memory, of_all[MEMORY]
        memory = 1024 * (of_all if grown else alone)[MEMORY]
        state = b"kept" if self._traces is not None and self._traces.none() else b"spent"
        return os.waitstatus_to_exitcode(status), spent, memory, state

    def end(self, nest: Nest) -> None:
        """End it, and all that is left of it."""
        self._connection.close()
        if self._traces is not None:
            self._traces.close()
        if self._alive:
            nest.kill()
            while self.ward.reap(wait=True) is None:
                pass


def run_series(
    nest: SerialNest, seal: Callable[[], None], source: bytes, args: list[str]
) -> NoReturn:
    """Compile a program, then fork a run of it whenever one is asked for."""
    code = compile_main(seal, source)
    names = main_names(args)

    def begin(*fds: int) -> None:
        hold(*fds)
        for fd in (LINE, *fds):
            os.close(fd)
        run_main(code, names)

    fork_runs(nest, begin)


def fork_runs(nest: SerialNest, begin: Callable[..., None]) -> NoReturn:
    """Fork a process whenever one is asked for, which is told the descriptors meant for it.

    How it ended is nowhere in our memory when the next is forked.
    """
    nest.stand_apart()
    os.close(STATUS)
    nothing = os.open(os.devnull, os.O_RDWR)
    hold(nothing, nothing, nothing)
    os.close(nothing)
    gc.freeze()
    line = socket.socket(fileno=LINE)
    _show_scratch(line)
    word = bytearray(1)
    while True:
        length, beside, _, _ = line.recvmsg_into([word], SPACE)
        if not length:
            os._exit(0)
        fds = [fd for (fd,) in FD.iter_unpack(beside[0][2])]
        pid = nest.fork_again()
        if pid == 0:
            begin(*fds)
            os._exit(1)
        report = nest.collect(pid)  # at once: what we write to while it lives is copied for us
        for fd in fds:
            os.close(fd)
        line.send(report)
        report[:] = bytes(len(report))


def _show_scratch(line: socket.socket) -> None:
    """Say that the program is compiled, and give the keeper the folder in which it runs."""
    scratch = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    line.sendmsg([b"C"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, FD.pack(scratch))])
    os.close(scratch)


def hold(*fds: int) -> None:
    """Have these for standard input, output and error."""
    for index, fd in enumerate(fds):
        os.dup2(fd, index)
