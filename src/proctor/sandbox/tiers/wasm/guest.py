"""One guest of the wasm tier seen from outside: its border, its output, the clock that may end it.

The worker that it lives in says what it writes and how it ends; whatever it does, every loop here
ends: by an answer, by an ending, or by a limit that kills it, if need be with its worker.
"""

import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from proctor.cancellation import CANCELLED, Cancelled, is_cancelled
from proctor.records.execution import (
    Ending,
    Execution,
    Exited,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    Usage,
)
from proctor.records.limits import Limits
from proctor.sandbox.inside.protocol.frames import Frame, Reader, TooLarge
from proctor.sandbox.limits.clock import TICK, ProcessLoad, Stopwatch
from proctor.sandbox.supervisor.guest import GuestEnded, over_limit

START_SECONDS = 60.0
KILL_SECONDS = 0.1
"""How long a guest may take to heed that it has to end, before its worker is killed."""
GONE = (b"", b"")
"""What a worker says that is no more."""


NOTHING = ProcessLoad({}, 0.0, 1, 0)


class Worker(Protocol):
    """What a guest lives in."""

    def hear(self, seconds: float) -> tuple[bytes, bytes]:
        """Return what the worker says next, if it says something within some time."""
        ...

    def tell(self, kind: bytes, payload: bytes = b"") -> None:
        """Send it one message."""
        ...

    def look(self) -> ProcessLoad | None:
        """Return what it has used since it was started, as far as this host tells."""
        ...

    def kill(self) -> None:
        """End it, whatever it does."""
        ...


class WasmGuest:
    """A running guest; not safe for use by several threads at once."""

    def __init__(
        self,
        box: Worker,
        limits: Limits,
        *,
        border: bool,
        scripted: bool = False,
        finally_: Callable[[], None] | None = None,
    ) -> None:
        self._box = box
        self.limits = limits
        self._border, self._scripted = border, scripted
        self._finally = finally_
        self._reader = Reader()
        self._frames: deque[Frame] = deque()
        self.answers = bytearray()
        """What came over the border, for a guest to whom all was said before."""
        self._streams = {b"O": bytearray(), b"E": bytearray(), b"G": bytearray()}
        self._cpu_seconds = 0.0
        self._killed: Ending | None = None
        self._kill_by = 0.0
        self._ended: dict[str, Any] | None = None
        self._execution: Execution | None = None
        self._before = NOTHING
        self.clock = Stopwatch(limits, self._look)

    def _look(self) -> ProcessLoad | None:
        """Return what the guest uses; where the host does not tell, the worker does."""
        load = self._box.look()
        if load is None:
            return ProcessLoad({}, self._cpu_seconds, 1, 0)
        before = self._before
        return load._replace(
            cpu_seconds=max(load.cpu_seconds - before.cpu_seconds, 0.0),
            memory_bytes=max(load.memory_bytes - before.memory_bytes, 0),
        )

    def send(self, data: bytes) -> None:
        """Send bytes to the guest."""
        self._box.tell(b"B", data)

    def receive(self) -> Frame:
        """Wait for the next frame under the clock; GuestEnded when there is none to come."""
        self._set_up()
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
        self._set_up()
        self.clock.start()
        while self._ended is None:
            self._step()
        self.clock.stop()

    def _set_up(self) -> None:
        """Wait until the guest's Python has started, which takes no time of the guest's."""
        patience = time.monotonic() + START_SECONDS
        while not self._streams[b"G"] and self._ended is None:
            self._hear(TICK)
            if is_cancelled():
                self.kill(CANCELLED)
            elif time.monotonic() > patience:
                self.kill(SandboxFailed("it takes too long to start a guest"))

    def kill(self, reason: Ending) -> None:
        """End the guest; the first reason given is its ending."""
        if self._killed is None and self._ended is None:
            self._killed = reason
            self._kill_by = time.monotonic() + KILL_SECONDS
            self._box.tell(b"K")

    def finish(self, grace_seconds: float = 0.0) -> Execution:
        """End the guest, after some grace if asked for, give all back and say what happened."""
        if self._execution is not None:
            return self._execution
        end = time.monotonic() + grace_seconds
        while self._ended is None:
            if time.monotonic() >= end:
                self.kill(Exited(0))
            self._step()
        self._execution = Execution(
            ending=self.ending,
            stdout=bytes(self._streams[b"O"]),
            stderr=bytes(self._streams[b"E"]),
            usage=Usage(
                cpu_seconds=self._ended.get("cpu_seconds", self._cpu_seconds),
                wall_seconds=self.clock.passed,
                memory_bytes=self._ended.get("memory_bytes", 0),
            ),
            compiled="C" in self.stage or self._border,
        )
        if self._finally is not None:
            self._finally()
        if self._killed is CANCELLED:
            raise Cancelled
        return self._execution

    @property
    def stage(self) -> str:
        """How far it came: nothing, `R` (set up), `RC` (its program compiled, too)."""
        return self._streams[b"G"].decode("utf-8", "replace")

    @property
    def ending(self) -> Ending:
        """Say how it ended."""
        ended = self._ended or {}
        if isinstance(self._killed, OutputTooLong):
            return self._killed  # what it had to end for was there
        if self._killed is not None and (not ended or ended.get("killed")):
            return self._killed
        if "failed" in ended or not ended:
            return SandboxFailed(ended.get("failed", "the worker is gone"))
        _, failed, why = self.stage.partition("F")
        if failed or not self.stage:
            return SandboxFailed(why or "died while being set up")
        if ended["too_long"]:
            return OutputTooLong()
        code = ended["ended"]
        return Exited(code) if code >= 0 else Signalled(-code)

    def _step(self) -> None:
        """Wait for something to happen, but no longer than the clock allows, and deal with it."""
        self._hear(KILL_SECONDS if self._killed else self.clock.patience())
        if self._ended is None and self._killed is None:
            self._mind_limits()

    def _hear(self, seconds: float) -> None:
        """Wait so long for the worker to say something, and take it."""
        kind, payload = said = self._box.hear(seconds)
        if said == GONE:
            self._ended = {}
        elif kind == b"D":
            self._ended = json.loads(payload)
        elif kind == b"T":
            self._cpu_seconds = float(payload)
        elif kind == b"B":
            self._cross_border(payload)
        elif kind:
            self._take(kind, payload)
        if self._ended is None and self._killed is not None and time.monotonic() > self._kill_by:
            self._box.kill()

    def _take(self, stream: bytes, data: bytes) -> None:
        """Keep what it wrote; its first word says that it is set up, and its time begins."""
        if stream == b"G" and not self._streams[stream]:
            self._count_from_here()
        self._streams[stream] += data

    def _count_from_here(self) -> None:
        self._before = self._box.look() or NOTHING
        self._cpu_seconds = 0.0

    def _cross_border(self, data: bytes) -> None:
        if self._scripted:
            self.answers += data
            return
        try:
            self._frames.extend(self._reader.feed(data))
        except TooLarge:
            self.kill(OutputTooLong())

    def _mind_limits(self) -> None:
        if is_cancelled():
            self.kill(CANCELLED)
        expired = self.clock.expired()
        if expired is not None:
            self.kill(over_limit(expired, self.limits))
