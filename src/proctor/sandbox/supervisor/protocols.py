"""What the supervisor needs of a guest and of a box, whatever the tier."""

from typing import Literal, Protocol

from proctor.records.execution import Execution
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.inside.protocol.frames import Frame
from proctor.sandbox.limits.clock import Stopwatch
from proctor.sandbox.supervisor.exchange import ExchangeResult

Role = Literal["candidate", "examiner", "checker", "together"]


class GuestConnection(Protocol):
    """A guest seen from outside: what it is told, what it answers, how it ends."""

    clock: Stopwatch

    @property
    def limits(self) -> Limits:
        """What it may use."""
        ...

    def send(self, data: bytes) -> None:
        """Send it bytes over the border."""
        ...

    def receive(self) -> Frame:
        """Wait for its next frame under the clock; GuestEnded when there is none to come."""
        ...

    def wait(self) -> None:
        """Wait under the clock until it has ended."""
        ...

    def finish(self, grace_seconds: float = 0.0) -> Execution:
        """End it, after some grace if asked for, give all back and say what happened."""
        ...


class BoxProtocol(Protocol):
    """What guests live in, one after the other, with a scratch folder."""

    processors: set[int]
    """Where it runs."""

    def start(
        self,
        role: str,
        limits: Limits,
        *,
        program: Program | None = None,
        code: bytes = b"",
        stdin: bytes | None = None,
    ) -> GuestConnection:
        """Start a guest; without a program it gets a border."""
        ...

    def exchange(
        self, requests: bytes, limits: Limits, role: str = ..., *, wipe: bool = ...
    ) -> ExchangeResult:
        """Have a fresh guest answer requests that are all known, or run a program."""
        ...

    def hang_up(self) -> None:
        """Have all in it end; any thread may, whoever waits for an answer."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        ...

    def read(self, path: str, max_bytes: int = ...) -> bytes:
        """Return a file of the scratch folder, or so much of it."""
        ...

    def wipe(self) -> None:
        """Empty the scratch folder."""
        ...

    def alive(self) -> bool:
        """Say whether it is still there."""
        ...

    def follow(self) -> None:
        """Run where the calling thread may run."""
        ...

    def close(self) -> None:
        """End it and all in it."""
        ...


class PreparedProgram(Protocol):
    """One program prepared for many runs, each in a fresh process with an empty scratch folder."""

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once; `output_bytes` replaces that limit."""
        ...

    def close(self) -> None:
        """Give back what was prepared."""
        ...
