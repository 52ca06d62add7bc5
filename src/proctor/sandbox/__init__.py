"""Run one Program under Limits and say what happened: the words every tier shares.

Theory of operation. A *supervisor* (the process that imported proctor) never runs a candidate
and never forks itself: it starts a *keeper* by executing a fresh interpreter, and the keeper
forks one *guest* per candidate. Between supervisor and keeper lies a control socket; between
supervisor and guest lie a border socket (length-prefixed frames, `inside/protocol/frames.py`) and
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

from typing import Protocol

from proctor.records.execution import Enforcement, Execution
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.job import Job
from proctor.sandbox.supervisor.notebook import Notebook
from proctor.sandbox.supervisor.protocols import GuestConnection, PreparedProgram, Role
from proctor.sandbox.toolchains.runner import ToolchainRunner


class Session(Protocol):
    """A box that lives: files stay between programs until it is closed or idles too long."""

    def exec(self, program: Program, stdin: bytes = b"") -> Execution:
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


class Sandbox(Protocol):
    """A tier: something that can run hostile programs."""

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        ...

    def require_language(self, language: str) -> str:
        """Return the version of a language that works here; a SandboxError says why it does not."""
        ...

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        ...

    def run_job(self, job: Job) -> Execution:
        """Run one program once, among files that it is given, and fetch what it leaves."""
        ...

    def repeat(self, program: Program, limits: Limits, *, times: int) -> PreparedProgram:
        """Prepare one program for so many runs."""
        ...

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> ExchangeResult:
        """Have a fresh guest answer requests that are all known, under one clock."""
        ...

    def open(self, role: Role, limits: Limits) -> GuestConnection:
        """Start one process that speaks the border protocol in the given role."""
        ...

    def native(self, language: str) -> ToolchainRunner:
        """Return what compiles parts of programs and runs them with a border of their own."""
        ...

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> Session:
        """Open a box that lives."""
        ...

    def notebook(self, limits: Limits) -> Notebook:
        """Open an interpreter that lives and keeps its names from cell to cell."""
        ...

    def close(self) -> None:
        """End everything that still runs."""
        ...
