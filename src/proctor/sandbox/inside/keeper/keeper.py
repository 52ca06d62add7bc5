"""The keeper of a box: forks guests, waits for them, kills what they leave, cleans up.

It is started as a fresh interpreter and never sees a test. It receives orders over a control
socket, one packet each: a JSON header, a newline, raw bytes, and attached descriptors. No guest
ever holds that socket. When the socket closes, for whatever reason, the keeper kills everything
below it and exits.

    order                                       answer
    start role limits + [in, out, err, border]  started pid; later: ended …
    exchange role limits wipe, requests         ended … state, what it wrote and answered
    prepare limits, program                     prepared | ended …, what it wrote and answered
    case output_bytes, input                    ended … state, what it wrote
    discard                                     discarded: the prepared program has ended
    kill                                        (makes `ended` come)
    interrupt                                   (none: the guest gets SIGINT)
    open path write                             opened + descriptor | refused why
    wipe                                        wiped

The environment decides what a guest is forked into: a folder, or new namespaces.

A guest is a fork of the keeper and can read all of the keeper's memory. So the data of one guest,
its program and its output, is kept in buffers that are wiped before the next guest is forked.
"""

import errno
import gc
import os
import select
import signal
import site
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..isolation.environment import GuestEnvironment, GuestProcess, ReusableEnvironment
from ..isolation.safe_open import open_below
from ..protocol.frames import MAX_TOTAL, dump, load
from ..roles.program import unpack_program
from ..roles.registry import find_role
from .guest_setup import GuestSetup
from .output import OutputCollector, StdinFeed, read_memfd
from .repeated_runs import ForkedFirst, RepeatedRuns
from .wait import MAX_PACKET, GuestWait

MAX_INLINE_BYTES = 1 << 16
"""Larger data is sent in an attached file instead of the packet."""
MAX_DESCRIPTORS = 8
FD = struct.Struct("i")
FIRST_KEEPER_FD = 16
"""Lower numbers are reserved for guests: the keeper never opens a descriptor below it."""
ANCILLARY_BYTES = socket.CMSG_SPACE(4 * MAX_DESCRIPTORS)


class Keeper:
    """One box with at most one guest at a time."""

    def __init__(self, control: socket.socket, environment: GuestEnvironment) -> None:
        self._control = control
        self._environment = environment
        self._guest: GuestProcess | None = None
        self._stage_pipe: int | None = None
        self._stage = b""
        self._packet = bytearray(MAX_PACKET)
        self._output = OutputCollector()
        self._repeated_runs: RepeatedRuns | None = None
        self._guest_wait = GuestWait(control, environment, self._output)

    def serve(self) -> None:
        """Carry out orders until the supervisor closes the control socket."""
        self._reply(ready=sys.version)
        try:
            while self._step():
                pass
        except ForkedFirst:
            raise  # this is a child, which must not clean up
        except BaseException:
            self._clean_up()
            raise
        self._clean_up()

    def _step(self) -> bool:
        if self._guest is None:
            return self._take_order()
        poll = select.poll()  # `select` refuses descriptors above 1023
        for fd in (self._control.fileno(), self._guest.exit_fd, self._stage_pipe):
            if fd is not None:
                poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if self._stage_pipe in ready:
            self._read_stage()
        if self._guest.exit_fd in ready:
            self._report_if_ended(self._guest)
        return self._control.fileno() not in ready or self._take_order()

    def _take_order(self) -> bool:
        length, ancillary, _, _ = self._control.recvmsg_into([self._packet], ANCILLARY_BYTES)
        if not length:
            return False
        fds = (
            [fd for _, _, data in ancillary for (fd,) in FD.iter_unpack(data)] if ancillary else []
        )
        end = self._packet.index(b"\n", 0, length)
        order = load(bytes(self._packet[:end]))
        blob = memoryview(self._packet)[end + 1 : length]
        if "attached" in order:
            blob = read_memfd(fds.pop())
        try:
            self._dispatch(order, blob, fds)
        except OSError as error:
            self._reply(refused=error.strerror or str(error))
        finally:
            blob[:] = bytes(len(blob))
            self._packet[:length] = bytes(length)
            for fd in fds:
                os.close(fd)
        return True

    def _dispatch(self, order: dict[str, Any], blob: memoryview, fds: list[int]) -> None:
        action = order["do"]
        if action == "start":
            self._start(order, blob, fds)
        elif action == "exchange":
            self._exchange(order, blob)
        elif action == "case":
            self._run_case(order, blob)
        elif action == "prepare":
            self._prepare_program(order, blob)
        elif action == "discard":
            self._discard_prepared()
            self._reply(discarded=True)
        elif action == "kill" and self._guest is not None:
            self._environment.kill()
        elif action == "interrupt" and self._guest is not None:
            os.kill(self._guest.pid, signal.SIGINT)
        elif action == "open":
            file = open_below(self._environment.scratch, order["path"], write=order["write"])
            self._reply((file,), opened=True)
            os.close(file)
        elif action == "wipe":
            self._environment.wipe()
            self._reply(wiped=True)

    def _start(self, order: dict[str, Any], blob: memoryview, fds: list[int]) -> None:
        self._discard_prepared()
        role_function = find_role(order["role"])
        reading, writing = os.pipe()
        self._stage = b""
        set_up = GuestSetup(self._environment, order["limits"], (*fds, writing))
        guest = GuestProcess(self._environment, self._environment.fork())
        if guest.pid == 0:
            set_up.run_live(role_function, order, blob)
        os.close(writing)
        self._guest, self._stage_pipe = guest, reading
        self._reply(started=guest.pid)

    def _read_stage(self) -> None:
        """Read how far the guest's set-up got; the pipe closes before candidate code runs."""
        assert self._stage_pipe is not None  # noqa: S101
        data = os.read(self._stage_pipe, 4096)
        self._stage += data
        if not data:
            os.close(self._stage_pipe)
            self._stage_pipe = None

    def _report_if_ended(self, guest: GuestProcess) -> None:
        """If the guest has ended, kill what it left and report the end."""
        code = guest.reap()
        if code is None:
            return
        while self._stage_pipe is not None:
            self._read_stage()
        self._guest = None
        stage = self._stage.decode("utf-8", "replace")
        self._reply(
            ended=code,
            stage=stage,
            cpu_seconds=guest.cpu_seconds,
            memory_bytes=guest.memory_bytes,
        )

    def _exchange(self, order: dict[str, Any], requests: memoryview) -> None:
        """Run a guest whose requests are all known, and send back its whole output at once."""
        if self._repeated_runs is not None:
            self._discard_prepared()
        role_function = find_role(order["role"])
        if order["wipe"]:
            self._environment.wipe()
        stdout, stderr, answers = os.pipe(), os.pipe(), os.pipe()
        feed = None
        if role_function is None:
            feed = StdinFeed(unpack_program(requests)[3], stdout[1], stderr[1])
        stdin = 0 if feed is None else feed.reading
        guest_fds = (stdin, stdout[1], stderr[1], answers[1])
        limits = order["limits"]
        set_up = GuestSetup(self._environment, limits, guest_fds)
        max_bytes = limits["output_bytes"]
        pipes = (stdout[0], max_bytes), (stderr[0], max_bytes), (answers[0], MAX_TOTAL)
        self._output.start(*pipes, feed=feed)
        guest = GuestProcess(self._environment, self._environment.fork())
        if guest.pid == 0:
            set_up.run_scripted(role_function, order, requests)
        # while the guest runs, the kernel copies each page that we write to: do the rest later
        code = self._guest_wait.wait(guest)
        assert code is not None  # noqa: S101  no connection was passed to wait for
        for fd in guest_fds if feed is not None else guest_fds[1:]:
            os.close(fd)
        self._report_end(code, guest.cpu_seconds, guest.memory_bytes)

    def _prepare_program(self, order: dict[str, Any], packed_program: memoryview) -> None:
        """Fork the process that compiles a program and from which its cases fork."""
        self._discard_prepared()
        environment = self._environment
        assert isinstance(environment, ReusableEnvironment)  # noqa: S101
        program = bytearray(packed_program)  # the child wipes the order when it unwinds its stack
        keeper_end, guest_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stdout, stderr, answers = os.pipe(), os.pipe(), os.pipe()
        limits = order["limits"]
        fds = (0, stdout[1], stderr[1], guest_end.fileno(), answers[1])
        set_up = GuestSetup(environment, limits, fds)
        guest = GuestProcess(environment, environment.fork_first())
        if guest.pid == 0:
            guest_end.detach()  # or the garbage collector would close it
            raise ForkedFirst(lambda: set_up.run_prepared(environment, program))
        guest_end.close()
        for _, writing in (stdout, stderr, answers):
            os.close(writing)
        max_bytes = limits["output_bytes"]
        self._output.start((stdout[0], max_bytes), (stderr[0], max_bytes), (answers[0], MAX_TOTAL))
        runs = RepeatedRuns(guest, keeper_end)
        code = self._wait(runs)
        program[:] = bytes(len(program))
        if code is not None:
            keeper_end.close()
            self._report_end(code, guest.cpu_seconds, guest.memory_bytes)
            return
        self._output.finish()
        self._output.wipe()
        self._repeated_runs = runs
        runs.start_leak_check(environment, unpack_program(packed_program)[0])
        self._reply(prepared=True)

    def _run_case(self, order: dict[str, Any], stdin: memoryview) -> None:
        """Fork one more run of the prepared program, and send back its output."""
        runs = self._repeated_runs
        if runs is None:
            raise BrokenPipeError(errno.EPIPE, "no program is prepared")
        stdout, stderr = os.pipe(), os.pipe()
        feed = StdinFeed(stdin, stdout[1], stderr[1])
        guest_fds = (feed.reading, stdout[1], stderr[1])
        runs.run(*guest_fds)
        for fd in guest_fds:
            os.close(fd)
        max_bytes = order["output_bytes"]
        self._output.start((stdout[0], max_bytes), (stderr[0], max_bytes), feed=feed)
        code, cpu_seconds, memory_bytes, state = runs.result(self._wait(runs))
        if state != "clean":
            self._discard_prepared()
        self._report_end(code, cpu_seconds, memory_bytes, state)

    def _wait(self, runs: RepeatedRuns) -> int | None:
        """Wait for the report of a run; if the forking process dies, return its exit code."""
        code = self._guest_wait.wait(runs.guest, runs.connection_fd)
        if code is None and not runs.receive():  # the connection is closed: the process is dying
            code = self._guest_wait.wait(runs.guest)
        return code

    def _discard_prepared(self) -> None:
        """End the process that forks runs, and everything below it."""
        runs, self._repeated_runs = self._repeated_runs, None
        if runs is not None:
            runs.end(self._environment)

    def _report_end(
        self, code: int, cpu_seconds: float, memory_bytes: int, state: str = "single"
    ) -> None:
        """Send how a guest ended, with its output."""
        parts, sizes = self._output.finish(), self._output.sizes
        inline = sum(sizes) <= MAX_INLINE_BYTES
        reply = {
            "ended": code,
            "sizes": sizes[:2],
            "too_long": self._output.too_long,
            "attached": not inline,
            "cpu_seconds": cpu_seconds,
            "memory_bytes": memory_bytes,
            "state": state,
        }
        header = dump(reply) + b"\n"
        if inline:
            self._send([header, *parts])
        else:
            attached = os.memfd_create("answers")
            with os.fdopen(attached, "wb", buffering=0) as file:
                file.writelines(parts)
                os.lseek(attached, 0, os.SEEK_SET)
                self._send([header], (attached,))
        self._output.wipe()

    def _clean_up(self) -> None:
        self._discard_prepared()
        if self._guest is not None:
            self._environment.kill()
            while self._guest.reap(wait=True) is None:
                pass
        self._environment.remove()

    def _reply(self, fds: tuple[int, ...] = (), **reply: Any) -> None:
        self._send([dump(reply) + b"\n"], fds)

    def _send(self, parts: Sequence[Any], fds: tuple[int, ...] = ()) -> None:
        ancillary: Sequence[tuple[int, int, bytes]] = ()
        if fds:
            ancillary = ((socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(FD.pack, fds))),)
        try:
            self._control.sendmsg(parts, ancillary)
        except OSError:
            pass  # the supervisor is gone; the next read returns nothing, and we clean up


def keep(
    control: int, environment: GuestEnvironment, tune: Callable[[], None] = lambda: None
) -> None:
    """Serve one box until its supervisor is gone; call `tune` before the first guest."""
    # builtins that are missing without the site module: exit, quit, help
    site.setquit()
    site.sethelper()
    site.setcopyright()
    while (fd := os.open(os.devnull, os.O_RDONLY)) < FIRST_KEEPER_FD:
        pass
    os.close(fd)
    gc.collect()
    gc.freeze()
    connection = socket.socket(fileno=control)
    begin = None
    try:
        keeper = Keeper(connection, environment)
        tune()
        environment.open()
        keeper.serve()
    except ForkedFirst as first:
        begin = first.begin
        connection.detach()  # it belongs to the parent; the set-up of the guest closes it
    if begin is not None:
        begin()
