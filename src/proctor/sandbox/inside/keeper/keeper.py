"""The keeper of a box: forks guests, waits for them, kills what they leave, cleans up.

It is started as a fresh interpreter and never sees a test. Orders come over a control socket, one
packet each: a JSON header, a newline, raw bytes that belong to it; descriptors beside it. No guest
ever holds that socket. When it closes, for whatever reason, the keeper ends everything below it.

    order                                       answer
    start role limits + [in, out, err, border]  started pid; later: ended …
    exchange role limits wipe, requests         ended … state, what it wrote and answered
    prepare limits, program                     prepared | ended …, what it wrote and answered
    case output_bytes, input                    ended … state, what it wrote
    discard                                     discarded: the prepared program has ended
    kill                                        (makes `ended` come)
    interrupt                                   (none: the guest hears it)
    open path write                             opened + descriptor | refused why
    wipe                                        wiped

What a guest is forked into is the nest's business: a folder, or namespaces of its own.

A guest is a fork of the keeper and can read all of its memory. So what belongs to one guest, its
program and what it said, lies in buffers that are wiped before the next guest is forked.
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

INLINE = 1 << 16
"""More than that does not travel in a packet but in a file beside it."""
MAX_DESCRIPTORS = 8
FD = struct.Struct("i")
FIRST_DESCRIPTOR = 16
"""Below are those that guests will have: what is made for one never has such a number."""
SPACE = socket.CMSG_SPACE(4 * MAX_DESCRIPTORS)


class Keeper:
    """One box with at most one guest at a time."""

    def __init__(self, control: socket.socket, nest: GuestEnvironment) -> None:
        self._control = control
        self._nest = nest
        self._ward: GuestProcess | None = None
        self._stages: int | None = None
        self._stage = b""
        self._packet = bytearray(MAX_PACKET)
        self._said = OutputCollector()
        self._series: RepeatedRuns | None = None
        self._watch = GuestWait(control, nest, self._said)

    def serve(self) -> None:
        """Carry out orders until the supervisor is gone."""
        self._reply(ready=sys.version)
        try:
            while self._step():
                pass
        except ForkedFirst:
            raise  # a child, whose affair nothing here is any more
        except BaseException:
            self._clean_up()
            raise
        self._clean_up()

    def _step(self) -> bool:
        if self._ward is None:
            return self._take_order()
        poll = select.poll()  # the control socket may have any number, which `select` may not
        for fd in (self._control.fileno(), self._ward.death, self._stages):
            if fd is not None:
                poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if self._stages in ready:
            self._read_stage()
        if self._ward.death in ready:
            self._look_after(self._ward)
        return self._control.fileno() not in ready or self._take_order()

    def _take_order(self) -> bool:
        length, beside, _, _ = self._control.recvmsg_into([self._packet], SPACE)
        if not length:
            return False
        fds = [fd for _, _, data in beside for (fd,) in FD.iter_unpack(data)] if beside else []
        end = self._packet.index(b"\n", 0, length)
        order = load(bytes(self._packet[:end]))
        blob = memoryview(self._packet)[end + 1 : length]
        if "beside" in order:
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
        what = order["do"]
        if what == "start":
            self._start(order, blob, fds)
        elif what == "exchange":
            self._exchange(order, blob)
        elif what == "case":
            self._run_case(order, blob)
        elif what == "prepare":
            self._prepare_program(order, blob)
        elif what == "discard":
            self._discard_prepared()
            self._reply(discarded=True)
        elif what == "kill" and self._ward is not None:
            self._nest.kill()
        elif what == "interrupt" and self._ward is not None:
            os.kill(self._ward.pid, signal.SIGINT)
        elif what == "open":
            file = open_below(self._nest.scratch, order["path"], write=order["write"])
            self._reply((file,), opened=True)
            os.close(file)
        elif what == "wipe":
            self._nest.wipe()
            self._reply(wiped=True)

    def _start(self, order: dict[str, Any], blob: memoryview, fds: list[int]) -> None:
        self._discard_prepared()
        play = find_role(order["role"])
        reading, writing = os.pipe()
        self._stage = b""
        set_up = GuestSetup(self._nest, order["limits"], (*fds, writing))
        ward = GuestProcess(self._nest, self._nest.fork())
        if ward.pid == 0:
            set_up.run_live(play, order, blob)
        os.close(writing)
        self._ward, self._stages = ward, reading
        self._reply(started=ward.pid)

    def _read_stage(self) -> None:
        """Learn how far the guest's set-up came; the pipe closes before candidate code runs."""
        assert self._stages is not None  # noqa: S101
        data = os.read(self._stages, 4096)
        self._stage += data
        if not data:
            os.close(self._stages)
            self._stages = None

    def _look_after(self, ward: GuestProcess) -> None:
        """Report the guest's end when it has come and nothing of it is left."""
        code = ward.reap()
        if code is None:
            return
        while self._stages is not None:
            self._read_stage()
        self._ward = None
        stage = self._stage.decode("utf-8", "replace")
        self._reply(
            ended=code,
            stage=stage,
            cpu_seconds=ward.cpu_seconds,
            memory_bytes=ward.memory_bytes,
        )

    def _exchange(self, order: dict[str, Any], requests: memoryview) -> None:
        """Tell a guest all that it will ever hear, and send back all it said at once."""
        if self._series is not None:
            self._discard_prepared()
        play = find_role(order["role"])
        if order["wipe"]:
            self._nest.wipe()
        stdout, stderr, answers = os.pipe(), os.pipe(), os.pipe()
        feed = None
        if play is None:
            feed = StdinFeed(unpack_program(requests)[3], stdout[1], stderr[1])
        stdin = 0 if feed is None else feed.reading
        theirs = (stdin, stdout[1], stderr[1], answers[1])
        limits = order["limits"]
        set_up = GuestSetup(self._nest, limits, theirs)
        most = limits["output_bytes"]
        said = (stdout[0], most), (stderr[0], most), (answers[0], MAX_TOTAL)
        self._said.begin(*said, feed=feed)
        ward = GuestProcess(self._nest, self._nest.fork())
        if ward.pid == 0:
            set_up.run_scripted(play, order, requests)
        # as long as it lives, all that we write to is copied for us: the rest can wait
        code = self._watch.wait(ward)
        assert code is not None  # noqa: S101  there is no line that could be heard before
        for fd in theirs if feed is not None else theirs[1:]:
            os.close(fd)
        self._report_end(code, ward.cpu_seconds, ward.memory_bytes)

    def _prepare_program(self, order: dict[str, Any], parcel: memoryview) -> None:
        """Fork the process that compiles a program and from which its cases fork."""
        self._discard_prepared()
        nest = self._nest
        assert isinstance(nest, ReusableEnvironment)  # noqa: S101
        said = bytearray(parcel)  # the order itself is wiped in a process that becomes another
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stdout, stderr, answers = os.pipe(), os.pipe(), os.pipe()
        limits = order["limits"]
        fds = (0, stdout[1], stderr[1], theirs.fileno(), answers[1])
        set_up = GuestSetup(nest, limits, fds)
        ward = GuestProcess(nest, nest.fork_first())
        if ward.pid == 0:
            theirs.detach()  # or it would be closed when we forget it
            raise ForkedFirst(lambda: set_up.run_prepared(nest, said))
        theirs.close()
        for _, writing in (stdout, stderr, answers):
            os.close(writing)
        most = limits["output_bytes"]
        self._said.begin((stdout[0], most), (stderr[0], most), (answers[0], MAX_TOTAL))
        series = RepeatedRuns(ward, ours)
        code = self._wait(series)
        said[:] = bytes(len(said))
        if code is not None:
            ours.close()
            self._report_end(code, ward.cpu_seconds, ward.memory_bytes)
            return
        self._said.finish()
        self._said.wipe()
        self._series = series
        series.prepared(nest, unpack_program(parcel)[0])
        self._reply(prepared=True)

    def _run_case(self, order: dict[str, Any], stdin: memoryview) -> None:
        """Have one more run forked, and send back all it wrote."""
        series = self._series
        if series is None:
            raise BrokenPipeError(errno.EPIPE, "no program is prepared")
        stdout, stderr = os.pipe(), os.pipe()
        feed = StdinFeed(stdin, stdout[1], stderr[1])
        theirs = (feed.reading, stdout[1], stderr[1])
        series.run(*theirs)
        for fd in theirs:
            os.close(fd)
        most = order["output_bytes"]
        self._said.begin((stdout[0], most), (stderr[0], most), feed=feed)
        code, cpu_seconds, memory_bytes, state = series.result(self._wait(series))
        if state != "kept":
            self._discard_prepared()
        self._report_end(code, cpu_seconds, memory_bytes, state)

    def _wait(self, series: RepeatedRuns) -> int | None:
        """Wait for what a series has to say; if it dies instead, say how."""
        code = self._watch.wait(series.ward, series.line)
        if code is None and not series.hear():  # it has let go of the line, and is dying
            code = self._watch.wait(series.ward)
        return code

    def _discard_prepared(self) -> None:
        """End a series, and all that is left of it."""
        series, self._series = self._series, None
        if series is not None:
            series.end(self._nest)

    def _report_end(
        self, code: int, cpu_seconds: float, memory_bytes: int, state: str = "alone"
    ) -> None:
        """Say how a guest ended and all that it wrote."""
        parts, sizes = self._said.finish(), self._said.sizes
        inline = sum(sizes) <= INLINE
        answer = {
            "ended": code,
            "sizes": sizes[:2],
            "too_long": self._said.too_long,
            "beside": not inline,
            "cpu_seconds": cpu_seconds,
            "memory_bytes": memory_bytes,
            "state": state,
        }
        header = dump(answer) + b"\n"
        if inline:
            self._send([header, *parts])
        else:
            beside = os.memfd_create("answers")
            with os.fdopen(beside, "wb", buffering=0) as file:
                file.writelines(parts)
                os.lseek(beside, 0, os.SEEK_SET)
                self._send([header], (beside,))
        self._said.wipe()

    def _clean_up(self) -> None:
        self._discard_prepared()
        if self._ward is not None:
            self._nest.kill()
            while self._ward.reap(wait=True) is None:
                pass
        self._nest.remove()

    def _reply(self, fds: tuple[int, ...] = (), **answer: Any) -> None:
        self._send([dump(answer) + b"\n"], fds)

    def _send(self, parts: Sequence[Any], fds: tuple[int, ...] = ()) -> None:
        beside: Sequence[tuple[int, int, bytes]] = ()
        if fds:
            beside = ((socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(FD.pack, fds))),)
        try:
            self._control.sendmsg(parts, beside)
        except OSError:
            pass  # the supervisor is gone; the next read says so and we clean up


def keep(control: int, nest: GuestEnvironment, tune: Callable[[], None] = lambda: None) -> None:
    """Keep one box until its supervisor is gone; `tune` is called before the first guest comes."""
    # what an interpreter that starts without site lacks: exit, quit, help
    site.setquit()
    site.sethelper()
    site.setcopyright()
    while (spare := os.open(os.devnull, os.O_RDONLY)) < FIRST_DESCRIPTOR:
        pass
    os.close(spare)
    gc.collect()
    gc.freeze()
    connection = socket.socket(fileno=control)
    begin = None
    try:
        keeper = Keeper(connection, nest)
        tune()
        nest.open()
        keeper.serve()
    except ForkedFirst as first:
        begin = first.begin
        connection.detach()  # it is our parent's, and will be closed
    if begin is not None:
        begin()
