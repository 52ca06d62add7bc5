"""Repeated runs: the cases of one stdin sample, forked from a process that is already confined.

That process is the init of the program's pid namespace. The keeper forks it like any guest. It
enters its namespaces, compiles the program, and then forks a fresh process for each case. Cases can
neither signal it nor read its memory. For each case it receives three descriptors over a socket
(standard input, output and error); the box never contains the expected outputs. When a case has
ended, the init kills whatever is left in the namespace. Then the keeper checks for leaks
(`leak_check.py`): after a case that left something behind, the next case gets new namespaces. The
keeper does this check because the kernel has to copy every page that the init writes to between
two forks.

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

CONNECTION, STATUS = 3, 4
REPORT = struct.Struct("=i4x18q18q")
"""A wait status, the usage of its process, and that of all processes reaped so far (wait4(2))."""
USER, SYSTEM, MEMORY = slice(0, 2), slice(2, 4), 4
FD = struct.Struct("i")
MAX_FDS = 4
ANCILLARY_BYTES = socket.CMSG_SPACE(MAX_FDS * FD.size)


class ForkedFirst(BaseException):
    """Unwinds the stack of the process that cases are forked from: cases can read its memory."""

    def __init__(self, begin: Callable[[], NoReturn]) -> None:
        super().__init__()
        self.begin = begin


class RepeatedRuns:
    """The process that runs are forked from, as the keeper sees it."""

    def __init__(self, guest: GuestProcess, connection: socket.socket) -> None:
        self.guest = guest
        self.connection_fd = connection.fileno()
        self._connection = connection
        self._leak_check: LeakCheck | None = None
        self._alive = True
        self._total_cpu_seconds, self._max_memory = 0.0, 0
        self._message = b""
        self._ancillary: list[tuple[int, int, bytes]] = []

    def run(self, *fds: int) -> None:
        """Order one more run, with these descriptors for its input and outputs."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(FD.pack, fds)))]
        try:
            self._connection.sendmsg([b"."], ancillary)
        except OSError:
            pass  # the process has died, which the keeper is about to see

    def receive(self) -> bool:
        """Receive one message; return False if the process has closed the connection."""
        try:
            received = self._connection.recvmsg(REPORT.size, ANCILLARY_BYTES)
            self._message, self._ancillary, _, _ = received
        except OSError:
            self._message = b""  # the process died before it read the order
        return bool(self._message)

    def start_leak_check(self, environment: ReusableEnvironment, source: memoryview) -> None:
        """Start checking for leaks, in the scratch folder sent with the first message."""
        if not self._ancillary:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        (scratch,) = FD.unpack(self._ancillary[0][2])
        self._leak_check = LeakCheck(environment, self.guest.pid, scratch, source)
        self._leak_check.record_baseline()

    def result(self, code: int | None) -> tuple[int, float, int, str]:
        """Return exit code, CPU seconds and memory of a run, and the state of the box after it.

        The state is `clean` (there can be another run), `leaked`, or `died`. `code` is the exit
        code of the process that forks the runs, if that has died.
        """
        if code is not None:
            self._alive = False
            return code, 0.0, 0, "died"  # its usage would be that of all runs together
        status, *usage = REPORT.unpack(self._message)
        of_run, of_all = usage[:18], usage[18:]
        total = sum(whole + micro / 1e6 for whole, micro in (of_all[USER], of_all[SYSTEM]))
        cpu_seconds, self._total_cpu_seconds = total - self._total_cpu_seconds, total
        memory_grew, self._max_memory = of_all[MEMORY] > self._max_memory, of_all[MEMORY]
        memory = 1024 * (of_all if memory_grew else of_run)[MEMORY]
        is_clean = self._leak_check is not None and self._leak_check.is_clean()
        state = "clean" if is_clean else "leaked"
        return os.waitstatus_to_exitcode(status), cpu_seconds, memory, state

    def end(self, environment: GuestEnvironment) -> None:
        """End the process and everything below it."""
        self._connection.close()
        if self._leak_check is not None:
            self._leak_check.close()
        if self._alive:
            environment.kill()
            while self.guest.reap(wait=True) is None:
                pass


def run_cases(
    environment: ReusableEnvironment, seal: Callable[[], None], source: bytes, args: list[str]
) -> NoReturn:
    """Compile a program, then fork a process that runs it for each case that the keeper sends.

    The report about a case is wiped from memory before the next one is forked.
    """
    code = compile_main(seal, source)
    names = main_names(args)
    environment.shield_from_runs()
    os.close(STATUS)
    null_fd = os.open(os.devnull, os.O_RDWR)
    _use_as_standard_streams(null_fd, null_fd, null_fd)
    os.close(null_fd)
    gc.freeze()
    connection = socket.socket(fileno=CONNECTION)
    _send_scratch_folder(connection)
    byte = bytearray(1)
    while True:
        length, ancillary, _, _ = connection.recvmsg_into([byte], ANCILLARY_BYTES)
        if not length:
            os._exit(0)
        fds = [fd for (fd,) in FD.iter_unpack(ancillary[0][2])]
        pid = environment.fork_again()
        if pid == 0:
            _use_as_standard_streams(*fds)
            for fd in (CONNECTION, *fds):
                os.close(fd)
            run_main(code, names)
        # Write to no memory before: while the run lives, each write makes the kernel copy a page.
        report = environment.collect(pid)
        for fd in fds:
            os.close(fd)
        connection.send(report)
        report[:] = bytes(len(report))


def _send_scratch_folder(connection: socket.socket) -> None:
    """Tell the keeper that the program is compiled, and send it the scratch folder."""
    scratch = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    connection.sendmsg([b"C"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, FD.pack(scratch))])
    os.close(scratch)


def _use_as_standard_streams(*fds: int) -> None:
    for index, fd in enumerate(fds):
        os.dup2(fd, index)
