"""A series: the cases of one stdin sample, whose processes fork from one that is already confined.

That process is the init of the program's pid namespace. The keeper forks it like any guest; it
enters its namespaces, compiles the program, and then forks a fresh process for each case. Cases can
neither signal it nor read its memory. For each case it receives three descriptors over a socket
(standard input, output and error); expected outputs are nowhere in the box. When a case has ended,
it kills whatever is left in the namespace. The keeper then looks for traces (`leak_check.py`):
a case that left any is the last one, and the next case gets new namespaces. The keeper does that
because every page that this process writes to between two forks has to be copied by the kernel.

The supervisor limits the time of a case from outside, as it does for any guest.
"""

import errno
import gc
import os
import socket
import struct
from collections.abc import Callable
from typing import NoReturn

from ..isolation.environment import GuestEnvironment, GuestProcess, ReusableEnvironment
from ..roles.program import compile_main, main_names, run_main
from .leak_check import LeakCheck

LINE, STATUS = 3, 4
REPORT = struct.Struct("=i4x18q18q")
"""A status, what its process took, and what all took that were waited for so far (wait4(2))."""
USER, SYSTEM, MEMORY = slice(0, 2), slice(2, 4), 4
FD = struct.Struct("i")
MAX_FDS = 4
SPACE = socket.CMSG_SPACE(MAX_FDS * FD.size)


class ForkedFirst(BaseException):
    """Unwind the stack of the process that cases fork from: they could read what is on it."""

    def __init__(self, begin: Callable[[], NoReturn]) -> None:
        super().__init__()
        self.begin = begin


class RepeatedRuns:
    """A series as its keeper sees it."""

    def __init__(self, ward: GuestProcess, connection: socket.socket) -> None:
        self.ward = ward
        self.line = connection.fileno()
        self._connection = connection
        self._traces: LeakCheck | None = None
        self._alive = True
        self._cpu_seconds, self._memory = 0.0, 0
        self._said = b""
        self._beside: list[tuple[int, int, bytes]] = []

    def run(self, *fds: int) -> None:
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

    def prepared(self, nest: ReusableEnvironment, source: memoryview) -> None:
        """Look for traces from now on, in the scratch folder that came with its first message."""
        if not self._beside:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        (scratch,) = FD.unpack(self._beside[0][2])
        self._traces = LeakCheck(nest, self.ward.pid, scratch, source)
        self._traces.record_baseline()

    def result(self, code: int | None) -> tuple[int, float, int, str]:
        """Return how a run ended, what it took, and whether there can be another.

        `code` is how the whole series ended, if it did. It is `kept`, `spent` or `gone`.
        """
        if code is not None:
            self._alive = False
            return code, 0.0, 0, "gone"  # what is told of it is of all that ever ran there
        status, *usage = REPORT.unpack(self._said)
        alone, of_all = usage[:18], usage[18:]
        seconds = sum(whole + micro / 1e6 for whole, micro in (of_all[USER], of_all[SYSTEM]))
        spent, self._cpu_seconds = seconds - self._cpu_seconds, seconds
        grown, self._memory = of_all[MEMORY] > self._memory, of_all[MEMORY]
        memory = 1024 * (of_all if grown else alone)[MEMORY]
        state = "kept" if self._traces is not None and self._traces.is_clean() else "spent"
        return os.waitstatus_to_exitcode(status), spent, memory, state

    def end(self, nest: GuestEnvironment) -> None:
        """End it, and all that is left of it."""
        self._connection.close()
        if self._traces is not None:
            self._traces.close()
        if self._alive:
            nest.kill()
            while self.ward.reap(wait=True) is None:
                pass


def run_series(
    nest: ReusableEnvironment, seal: Callable[[], None], source: bytes, args: list[str]
) -> NoReturn:
    """Compile a program, then fork a process that runs it for each case the keeper sends.

    How a case ended is no longer in memory when the next one is forked.
    """
    code = compile_main(seal, source)
    names = main_names(args)
    nest.stand_apart()
    os.close(STATUS)
    nothing = os.open(os.devnull, os.O_RDWR)
    _use_as_standard_streams(nothing, nothing, nothing)
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
            _use_as_standard_streams(*fds)
            for fd in (LINE, *fds):
                os.close(fd)
            run_main(code, names)
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


def _use_as_standard_streams(*fds: int) -> None:
    for index, fd in enumerate(fds):
        os.dup2(fd, index)
