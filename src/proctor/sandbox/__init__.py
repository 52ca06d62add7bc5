"""Run one Program under Limits and say what happened: the words every tier shares.

Theory of operation. A *supervisor* (the process that imported proctor) never runs a candidate
and never forks itself: it starts a *keeper* by executing a fresh interpreter, and the keeper
forks one *guest* per candidate. Between supervisor and keeper lies a control socket; between
supervisor and guest lie a border socket (length-prefixed frames, see `inside/border.py`) and
one pipe each for standard output and standard error, drained while the guest runs. When the
control socket closes, for whatever reason, the keeper kills everything below it, removes the
scratch folder and ends: a supervisor that is killed with -9 leaves nothing behind.

Who may fail: the guest may do anything, and that is an `Ending`. A keeper that cannot set up a
guest says so on the control socket, which no guest ever holds: that is `SandboxFailed`, never
the candidate's fault.

The wasm tier has no keeper and forks nothing: see `wasm/`.

What is not covered here: see each tier. `portable` is not isolated at all: a hostile guest can
read the user's files and talk to the network. It exists for hosts where nothing better does.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from proctor.program import Program
    from proctor.sandbox.clock import Stopwatch
    from proctor.sandbox.exchange import Exchanged
    from proctor.sandbox.foreign import Foreign
    from proctor.sandbox.inside.frames import Frame
    from proctor.sandbox.job import Job
    from proctor.sandbox.notebooks import Notebook

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Tier = Literal["kernel", "docker", "contained", "wasm", "portable"]
Clock = Literal["cpu", "wall"]
Role = Literal["candidate", "examiner", "checker", "together"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate may use; units are in the names."""

    cpu_seconds: float = 3.0
    """Processor time of all its threads and descendants together."""
    wall_seconds: float = 3.0
    """Time that passes while it owes an answer, less the time it waited for a processor."""
    memory_bytes: int = GIB
    output_bytes: int = 256 * KIB
    """Each of standard output and standard error."""
    processes: int = 64
    file_bytes: int = 64 * MIB
    scratch_bytes: int = 256 * MIB
    open_files: int = 256
    loopback: bool = False
    """Whether it may talk to itself over a network that leads nowhere else."""

    def with_seconds(self, seconds: float) -> "Limits":
        """Return the same limits with both clocks set to `seconds`."""
        return msgspec.structs.replace(self, cpu_seconds=seconds, wall_seconds=seconds)


class Exited(msgspec.Struct, frozen=True, tag="exited"):
    """It ended by itself."""

    code: int


class Signalled(msgspec.Struct, frozen=True, tag="signalled"):
    """A signal ended it that we did not send."""

    signal: int


class TimedOut(msgspec.Struct, frozen=True, tag="timed_out"):
    """We ended it because a clock ran out."""

    clock: Clock


class OutOfMemory(msgspec.Struct, frozen=True, tag="out_of_memory"):
    """It was ended for want of memory."""


class OutputTooLong(msgspec.Struct, frozen=True, tag="output_too_long"):
    """We ended it because it wrote more than it may."""


class Denied(msgspec.Struct, frozen=True, tag="denied"):
    """A wall ended it while it tried `what`."""

    what: str


class SandboxFailed(msgspec.Struct, frozen=True, tag="sandbox_failed"):
    """We failed; nothing is known about the candidate."""

    reason: str


Ending = Exited | Signalled | TimedOut | OutOfMemory | OutputTooLong | Denied | SandboxFailed


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one candidate used."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, without judgement."""

    ending: Ending
    stdout: bytes = b""
    stderr: bytes = b""
    usage: Usage = Usage()
    compiled: bool = True
    """False if the program's text was refused before anything of it ran."""
    build: "Execution | None" = None
    """How its compiler ended, for a job whose language has one and that went on to run."""
    files: Mapping[str, bytes] = {}
    """What a job wanted of its folder and found there."""
    left: Mapping[str, str] = {}
    """What it wanted but did not get, and why."""


class Enforcement(msgspec.Struct, frozen=True, kw_only=True):
    """What a tier holds its guests to on this host, and by what."""

    tier: Tier
    isolated: bool
    walls: Mapping[str, str]
    """Limit or wall → how it is enforced, or `not enforced`."""
    clock: str
    """`schedstat` (load is subtracted) or `wall`."""
    toolchains: Mapping[str, str]
    """Language → what runs its programs, with its version."""
    packages: Sequence[str] = ()
    """What candidates may import besides the standard library, with versions."""


class Speaker(Protocol):
    """A guest seen from outside: what it is told, what it answers, how it ends."""

    clock: "Stopwatch"

    @property
    def limits(self) -> Limits:
        """What it may use."""
        ...

    def send(self, data: bytes) -> None:
        """Send it bytes over the border."""
        ...

    def receive(self) -> "Frame":
        """Wait for its next frame under the clock; GuestEnded when there is none to come."""
        ...

    def wait(self) -> None:
        """Wait under the clock until it has ended."""
        ...

    def finish(self, grace_seconds: float = 0.0) -> Execution:
        """End it, after some grace if asked for, give all back and say what happened."""
        ...


class Room(Protocol):
    """What guests live in, one after the other, with a scratch folder."""

    processors: set[int]
    """Where it runs."""

    def start(
        self,
        role: str,
        limits: Limits,
        *,
        program: "Program | None" = None,
        code: bytes = b"",
        stdin: bytes | None = None,
    ) -> Speaker:
        """Start a guest; without a program it gets a border."""
        ...

    def exchange(
        self, requests: bytes, limits: Limits, role: str = ..., *, wipe: bool = ...
    ) -> "Exchanged":
        """Have a fresh guest answer requests that are all known, or run a program."""
        ...

    def hang_up(self) -> None:
        """Have all in it end; any thread may, whoever waits for an answer."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        ...

    def read(self, path: str, most: int = ...) -> bytes:
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


class Session(Protocol):
    """A box that lives: files stay between programs until it is closed or idles too long."""

    def exec(self, program: "Program", stdin: bytes = b"") -> Execution:
        """Run one program in the session's scratch folder."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file of the scratch folder."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        ...

    def close(self) -> None:
        """End whatever runs and remove the scratch folder."""
        ...


class Runs(Protocol):
    """One program prepared for many runs, each in a fresh process with an empty scratch folder."""

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once; `output_bytes` replaces that limit."""
        ...

    def close(self) -> None:
        """Give back what was prepared."""
        ...


class Sandbox(Protocol):
    """A tier: something that can run hostile programs."""

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        ...

    def offer(self, language: str) -> str:
        """Return the version of a language that works here; a SandboxError says why it does not."""
        ...

    def run(self, program: "Program", limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        ...

    def carry_out(self, job: "Job") -> Execution:
        """Run one program once, among files that it is given, and fetch what it leaves."""
        ...

    def repeat(self, program: "Program", limits: Limits, *, times: int) -> Runs:
        """Prepare one program for so many runs."""
        ...

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> "Exchanged":
        """Have a fresh guest answer requests that are all known, under one clock."""
        ...

    def open(self, role: Role, limits: Limits) -> Speaker:
        """Start one process that speaks the border protocol in the given role."""
        ...

    def native(self, language: str) -> "Foreign":
        """Return what compiles parts of programs and runs them with a border of their own."""
        ...

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> Session:
        """Open a box that lives."""
        ...

    def notebook(self, limits: Limits) -> "Notebook":
        """Open an interpreter that lives and keeps its names from cell to cell."""
        ...

    def close(self) -> None:
        """End everything that still runs."""
        ...
