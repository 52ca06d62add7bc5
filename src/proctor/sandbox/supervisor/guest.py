"""One process in a box, seen from outside: its border, its output, the clock that may end it.

All of it is one loop over non-blocking descriptors: frames come in and go out, both output
streams are drained, standard input is fed, and the keeper tells how the guest ended. Whatever
the guest does, the loop ends: by an answer, by an ending, or by a limit that kills it.
"""

import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from proctor.cancellation import CANCELLED, Cancelled, is_cancelled
from proctor.errors import SandboxError
from proctor.records.execution import (
    Denied,
    Ending,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
    Usage,
)
from proctor.records.limits import Limits
from proctor.sandbox.inside.protocol.frames import Frame, Reader, TooLarge
from proctor.sandbox.limits.cgroup import Cgroup
from proctor.sandbox.limits.clock import Expiry, ProcessLoad, Stopwatch
from proctor.sandbox.supervisor.control_socket import GONE, Answer, Control

CHUNK = 1 << 16
PATIENCE_AFTER_KILL = 10.0
PIPEFULS = 32
"""How often output is read at most that may be there already: somebody may go on writing."""
GRACE_SECONDS = 1.0
"""How long a guest that was interrupted may go on."""
CLOSED_SECONDS = 0.5
"""How long a guest that closed its border may live on."""


class GuestEnded(Exception):
    """The guest is no more; `ending` says how."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(str(ending))
        self.ending = ending


def by_itself(code: int, cpu_seconds: float, limits: Limits) -> Ending:
    """Say how a guest ended that nobody killed."""
    if code >= 0:
        return Exited(code)
    out_of_time = cpu_seconds >= limits.cpu_seconds
    if -code in (signal.SIGXCPU, signal.SIGKILL) and out_of_time:
        return TimedOut("cpu")
    return Signalled(-code)


def over_limit(expired: Expiry, limits: Limits) -> Ending:
    """Say how a guest ends that has reached a limit."""
    match expired:
        case "cpu" | "wall":
            return TimedOut(expired)
        case "memory":
            return OutOfMemory()
        case "processes":
            return Denied(f"more than {limits.processes} processes")
        case "scratch":
            return Denied(f"more than {limits.scratch_bytes} bytes of files")
        case "starved":
            return SandboxFailed("the machine gave it no processor time")


class Guest:
    """A running process; not safe for use by several threads at once."""

    def __init__(
        self,
        control: Control,
        limits: Limits,
        look: Callable[[], ProcessLoad | None],
        *,
        group: Cgroup | None = None,
        memory_ending_after: Callable[[int | None], Ending | None],
        outputs: tuple[int, int],
        border: socket.socket | None = None,
        stdin: tuple[int, bytes] | None = None,
        gentle: bool = False,
        finally_: Callable[[], None] | None = None,
    ) -> None:
        """A `gentle` end leaves a guest its life: see `begin`."""
        self._control = control
        self._gentle = gentle
        self.interrupted = False
        """Whether it was told that its time is over."""
        self.truncated = False
        """Whether some of what it wrote was thrown away."""
        self._limits = limits
        self._finally = finally_
        self._border = border
        self._outbox = bytearray()
        self._reader = Reader()
        self._frames: deque[Frame] = deque()
        self._stdin = None if stdin is None else stdin[0]
        self._input = memoryview(b"" if stdin is None else stdin[1])
        self._outputs = outputs
        self._streams: dict[int, bytearray] = {fd: bytearray() for fd in outputs}
        self._closed_at: float | None = None
        self._killed: Ending | None = None
        self._too_long = False
        self._ended: dict[str, Any] | None = None
        self._execution: Execution | None = None
        self.clock = Stopwatch(limits, look)
        self._poll = select.poll()
        self._actions: dict[int, Callable[[], None]] = {}
        self._watch(control.connection.fileno(), self._take_answer)
        for fd in outputs:
            self._watch(fd, partial(self._take_output, fd))
        if border is not None:
            self._watch(border.fileno(), self._cross_border)
        if self._stdin is not None:
            self._watch(self._stdin, self._feed, select.POLLOUT)
        self._memory_ending_after = memory_ending_after
        self._group = group
        if group is not None:
            self._actions[group.alarm] = self._take_alarm
            self._poll.register(group.alarm, group.events)

    def begin(self, limits: Limits) -> None:
        """Let it do one more thing, for which limits count anew.

        When its time is over it is interrupted, and ended only if it goes on. What it writes
        beyond its limit is thrown away.
        """
        self._limits = limits
        self.interrupted = self.truncated = False
        for stream in self._streams.values():
            stream.clear()
        self._reader.renew()
        self.clock.lap(limits)

    def take_output(self) -> tuple[bytes, bytes]:
        """Return what it wrote up to now to both streams."""
        for _ in range(PIPEFULS):
            ready = [fd for fd, _ in self._poll.poll(0) if fd in self._outputs]
            for fd in ready:
                self._actions[fd]()
            if not ready:
                break
        first, second = (bytes(self._streams[fd]) for fd in self._outputs)
        return first, second

    def order(self, **what: Any) -> Answer:
        """Have the keeper do something meanwhile; that the guest has ended may come first."""
        self._control.order(**what)
        while True:
            answer = self._control.answer() if self._control.wait(PATIENCE_AFTER_KILL) else GONE
            if "ended" not in answer.header:
                return answer
            self._ended = answer.header

    def send(self, data: bytes) -> None:
        """Queue bytes for the guest and send what can be sent now."""
        self._outbox += data
        self._send_some()

    def receive(self) -> Frame:
        """Wait for the next frame under the clock; GuestEnded when there is none to come."""
        self.clock.start()
        try:
            while not self._frames:
                if self._ended is not None:
                    raise GuestEnded(self.ending)
                self._step()
            return self._frames.popleft()
        finally:
            self.clock.stop()

    def wait(self) -> None:
        """Wait under the clock until the guest has ended."""
        self.clock.start()
        while self._ended is None:
            self._step()
        self.clock.stop()

    def kill(self, reason: Ending) -> None:
        """End the guest; the first reason given is its ending."""
        if self._killed is None and self._ended is None:
            self._killed = reason
            try:
                self._control.order(do="kill")
            except SandboxError:
                self._ended = {}

    def finish(self, grace_seconds: float = 0.0) -> Execution:
        """End the guest, after some grace if asked for, give all back and say what happened."""
        if self._execution is not None:
            return self._execution
        end = time.monotonic() + grace_seconds
        while self._ended is None:
            if time.monotonic() >= end:
                self.kill(Exited(0))
            self._step()
        usage = Usage(
            cpu_seconds=self._ended.get("cpu_seconds", 0.0),
            wall_seconds=self.clock.passed,
            memory_bytes=self._ended.get("memory_bytes", 0),
        )
        stdout, stderr = (bytes(self._streams[fd]) for fd in self._outputs)
        self._close()
        compiled = "C" in self.stage or self._border is not None
        self._execution = Execution(
            ending=self.ending, stdout=stdout, stderr=stderr, usage=usage, compiled=compiled
        )
        if self._killed is CANCELLED:
            raise Cancelled
        return self._execution

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self._limits

    @property
    def stage(self) -> str:
        """How far it came: nothing, `R` (set up), `RC` (its program compiled, too)."""
        return str((self._ended or {}).get("stage", ""))

    @property
    def ending(self) -> Ending:
        """Say how it ended."""
        ended = self._ended or {}
        code = ended.get("ended")
        if code is None and isinstance(self._killed, OutOfMemory):
            return self._killed  # the kernel took the keeper with it
        if code is None:
            return SandboxFailed("the keeper of the box is gone")
        _, failed, why = self.stage.partition("F")
        if failed or not self.stage:
            return SandboxFailed(why or "died while being set up")
        if self._too_long:
            return OutputTooLong()
        if self._killed is not None:
            return self._killed
        return by_itself(code, ended.get("cpu_seconds", 0.0), self._limits)

    def _watch(self, fd: int, action: Callable[[], None], events: int = select.POLLIN) -> None:
        if action != self._take_answer:  # answers of the keeper are waited for elsewhere, too
            os.set_blocking(fd, False)
        self._actions[fd] = action
        self._poll.register(fd, events)

    def _forget(self, fd: int) -> None:
        del self._actions[fd]
        self._poll.unregister(fd)

    def _step(self) -> None:
        """Wait for something to happen, but no longer than the clock allows, and deal with it."""
        wait = PATIENCE_AFTER_KILL if self._killed else self.clock.patience()
        events = self._poll.poll(wait * 1000)
        for fd, _ in events:
            if fd in self._actions:
                self._actions[fd]()
        if self._ended is not None:
            self._drain()
        elif self._killed is None:
            self._mind_limits()
        elif not events:
            self._ended = {}  # a keeper that does not answer a kill is no keeper

    def _mind_limits(self) -> None:
        if self._closed_at is not None and time.monotonic() - self._closed_at > CLOSED_SECONDS:
            self.kill(Exited(0))
        if is_cancelled():
            self.kill(CANCELLED)
        expired = self.clock.expired()
        if expired in ("cpu", "wall") and self._gentle and not self.interrupted:
            self.interrupted = True
            self.clock.lap(self._limits.with_seconds(GRACE_SECONDS))
            self._control.order(do="interrupt")
        elif expired is not None:
            self.kill(over_limit(expired, self._limits))

    def _take_answer(self) -> None:
        answer = self._control.answer().header
        if "ended" in answer or not answer:
            self._ended = answer
            if self._killed is None:
                self._killed = self._memory_ending_after(answer.get("ended"))

    def _take_alarm(self) -> None:
        assert self._group is not None  # noqa: S101
        told = self._group.memory_ending()
        if told is not None and self._ended is None:
            self.kill(told)
        elif self._killed is None:
            self._killed = told

    def _take_output(self, fd: int) -> None:
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._forget(fd)
            return
        stream = self._streams[fd]
        room = self._limits.output_bytes - len(stream)
        stream += data[:room]
        if len(data) > room and self._gentle:
            self.truncated = True
        elif len(data) > room:
            self._too_long = True
            self.kill(OutputTooLong())

    def _feed(self) -> None:
        assert self._stdin is not None  # noqa: S101
        try:
            self._input = self._input[os.write(self._stdin, self._input[:CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]  # it does not want to read on, which is its right
        if not self._input:
            self._forget(self._stdin)
            os.close(self._stdin)
            self._stdin = None

    def _cross_border(self) -> None:
        self._send_some()
        assert self._border is not None  # noqa: S101
        try:
            data = self._border.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:  # it closed its end; the keeper may be about to tell how it ended
            self._forget(self._border.fileno())
            self._closed_at = time.monotonic()
            return
        try:
            self._frames.extend(self._reader.feed(data))
        except TooLarge:
            self._too_long = True
            self.kill(OutputTooLong())

    def _send_some(self) -> None:
        assert self._border is not None  # noqa: S101
        fd = self._border.fileno()
        try:
            while self._outbox:
                del self._outbox[: self._border.send(self._outbox)]
        except BlockingIOError:
            pass  # the rest goes out when the guest has read some
        except OSError:
            self._outbox.clear()  # it closed its end, which the next read tells
        if fd in self._actions:
            self._poll.modify(fd, select.POLLIN | (select.POLLOUT if self._outbox else 0))

    def _drain(self) -> None:
        """Take what the dead guest had already written; nobody is left to write more.

        There need not be an end to it: a descriptor that was sent to a socket which nobody can
        receive from any more stays open until the kernel comes to look for such.
        """
        border = () if self._border is None else (self._border.fileno(),)
        for fd in (*self._outputs, *border):
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            while fd in self._actions and not self._too_long and poll.poll(0):
                self._actions[fd]()

    def _close(self) -> None:
        if self._border is not None:
            self._border.close()
        for fd in (*self._outputs, *([] if self._stdin is None else [self._stdin])):
            os.close(fd)
        if self._finally is not None:
            self._finally()
