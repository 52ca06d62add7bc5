"""The portable tier: a fresh interpreter for every candidate, limits where the system has them.

Not isolated: a guest runs as the user, sees the user's files and the network, and can signal
the user's processes. What does hold: clocks, output and memory limits, no secrets in its
environment, no package of the user's in its path, and nothing of it left running or lying about.
"""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import msgspec

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import Enforcement, Execution, Limits, Role, SandboxFailed
from proctor.sandbox.clock import load_of
from proctor.sandbox.guest import Control, Guest

START_SECONDS = 30.0
MAX_FILE_BYTES = 100 << 20
BOOT = """
import sys
sys.path.insert(0, sys.argv.pop(2))
from inside.keeper import main
del sys.path[0]
main()
"""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class Box:
    """One keeper process with its scratch folder."""

    def __init__(self, python: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [python, "-s", "-S", "-B", "-c", BOOT, str(theirs.fileno()), _folder()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=ENVIRONMENT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxError(f"cannot start {python}: {error.strerror}") from error
        ours.settimeout(START_SECONDS)
        self.control = Control(ours)
        hello, _ = self.control.answer()
        if "ready" not in hello:
            self.close()
            raise SandboxError(f"{python} does not start as a keeper of candidates")
        self.version = str(hello["ready"])

    def start(
        self,
        role: str,
        limits: Limits,
        *,
        args: tuple[str, ...] = (),
        border: bool = False,
        stdin: bytes | None = None,
        finally_: Callable[[], None] | None = None,
    ) -> Guest:
        """Fork a guest and return its outside."""
        reading, writing = zip(os.pipe(), os.pipe(), strict=True)
        feed = (os.open(os.devnull, os.O_RDONLY), None) if stdin is None else os.pipe()
        ours, theirs = socket.socketpair() if border else (None, None)
        given = [feed[0], *writing, *([] if theirs is None else [theirs.fileno()])]
        try:
            self.control.order(
                given, do="start", role=role, args=args, limits=msgspec.to_builtins(limits)
            )
        finally:
            for fd in (feed[0], *writing):
                os.close(fd)
            if theirs is not None:
                theirs.close()
        answer, _ = self.control.answer()
        if "started" not in answer:
            raise SandboxError(f"no guest could be started: {answer.get('refused', 'no answer')}")
        return Guest(
            self.control,
            limits,
            pid=answer["started"],
            outputs=(reading[0], reading[1]),
            border=ours,
            stdin=None if feed[1] is None else (feed[1], stdin or b""),
            finally_=finally_,
        )

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        with os.fdopen(self._open(path, write=True), "wb") as file:
            file.write(content)

    def read(self, path: str) -> bytes:
        """Return a file of the scratch folder."""
        with os.fdopen(self._open(path, write=False), "rb") as file:
            return file.read(MAX_FILE_BYTES)

    def wipe(self) -> None:
        """Empty the scratch folder."""
        self.control.order(do="wipe")
        answer, _ = self.control.answer()
        if "wiped" not in answer:
            raise SandboxError(f"the scratch folder cannot be emptied: {answer.get('refused')}")

    def close(self) -> None:
        """End the keeper and all below it."""
        self.control.connection.close()
        try:
            self._process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _open(self, path: str, *, write: bool) -> int:
        self.control.order(do="open", path=path, write=write)
        answer, fds = self.control.answer()
        if not fds:
            raise SandboxError(f"{path}: {answer.get('refused', 'no answer')}")
        return fds[0]


def _folder() -> str:
    return str(Path(__file__).parent)


class PortableSession:
    """A box that lives."""

    def __init__(self, box: Box, limits: Limits, idle_seconds: float) -> None:
        self._box = box
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._timer = self._wind_up()

    def exec(self, program: Program, stdin: bytes = b"") -> Execution:
        """Run one program in the session's scratch folder."""
        with self._lock:
            self._timer.cancel()
            try:
                return run_in(self._box, program, self._limits, stdin)
            finally:
                self._timer = self._wind_up()

    def read(self, path: str) -> bytes:
        """Return a file of the scratch folder."""
        with self._lock:
            return self._box.read(path)

    def write(self, path: str, content: bytes) -> None:
        """Put a file into the scratch folder."""
        with self._lock:
            self._box.write(path, content)

    def close(self) -> None:
        """End whatever runs and remove the scratch folder."""
        self._timer.cancel()
        with self._lock:
            self._box.close()

    def _wind_up(self) -> threading.Timer:
        timer = threading.Timer(self._idle_seconds, self.close)
        timer.daemon = True
        timer.start()
        return timer


class PortableRuns:
    """One program run again and again, each time as if for the first."""

    def __init__(self, box: Box, program: Program, limits: Limits) -> None:
        self._box = box
        self._program = program
        self._limits = limits

    def run(self, stdin: bytes, output_bytes: int) -> Execution:
        """Run it once, in an empty scratch folder."""
        limits = msgspec.structs.replace(self._limits, output_bytes=output_bytes)
        self._box.wipe()
        return run_in(self._box, self._program, limits, stdin)

    def close(self) -> None:
        """Remove the scratch folder."""
        self._box.close()


def run_in(box: Box, program: Program, limits: Limits, stdin: bytes) -> Execution:
    """Run a program in a box and wait for its end."""
    box.write("main.py", program.source.encode("utf-8", "surrogatepass"))
    guest = box.start("program", limits, args=program.args, stdin=stdin)
    guest.wait()
    return guest.finish()


class Portable:
    """The tier for hosts where nothing better works."""

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python

    @cached_property
    def _enforcement(self) -> Enforcement:
        limit = "rlimit"
        watched = "watched" if load_of(os.getpid()) else "not enforced"
        box = Box(self._python)
        box.close()
        return Enforcement(
            tier="portable",
            isolated=False,
            clock="schedstat" if load_of(os.getpid()) else "wall",
            walls={
                "cpu_seconds": watched,
                "wall_seconds": "watched",
                "memory_bytes": f"{limit}, each process",
                "output_bytes": "watched",
                "processes": watched,
                "file_bytes": limit,
                "scratch_bytes": "not enforced",
                "open_files": limit,
                "files": "not enforced",
                "network": "not enforced",
                "other processes": "not enforced",
            },
            toolchains={"python": f"python {box.version.split()[0]}"},
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._enforcement

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        try:
            box = Box(self._python)
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))
        try:
            return run_in(box, program, limits, stdin)
        finally:
            box.close()

    def repeat(self, program: Program, limits: Limits) -> PortableRuns:
        """Prepare one program for many runs."""
        return PortableRuns(Box(self._python), program, limits)

    def open(self, role: Role, limits: Limits) -> Guest:
        """Start one process that speaks the border protocol in the given role."""
        box = Box(self._python)
        return box.start(role, limits, border=True, finally_=box.close)

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> PortableSession:
        """Open a box that lives."""
        return PortableSession(Box(self._python), limits, idle_seconds)

    def close(self) -> None:
        """Nothing is kept between candidates, so nothing is left to end."""
