"""The wasm tier: candidates in a WASI build of Python, run by wasmtime, on any system.

For hosts without walls of their own, macOS and Windows above all. A worker, which is a process (see
`worker/`), runs one guest after the other. Each is a new instance with a memory of its own, and
all that it can ask for is what WASI offers: a folder that is empty at first, its standard streams,
the border, the time and random numbers. There is no file of the host but the standard library, no
network, no process and no environment but ours, because nothing is there that could be asked for
them.

What a guest cannot do: start threads or processes, use sockets, load packages with native parts
(numpy), take numbers beyond 2^31-1 as sizes. It is slower than Python itself by several times.

What is not covered: wasmtime, which is the wall. How long a guest may sleep or wait is watched from
outside, and a guest that will not end goes with its worker.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from proctor.cancellation import raise_if_cancelled
from proctor.errors import InputError, SandboxError
from proctor.records.execution import Enforcement, Execution, Exited, SandboxFailed
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.limits.clock import load_of_process
from proctor.sandbox.supervisor.box_pool import Pool
from proctor.sandbox.supervisor.bundle import EXAMINER_MODULES, INSIDE
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.job import Job, path_in_folder
from proctor.sandbox.supervisor.protocols import Role
from proctor.sandbox.supervisor.sessions import (
    MAIN,
    PYTHON,
    BoxSession,
    FreshBoxRuns,
    refuse_language,
    run_in_session,
)
from proctor.sandbox.tiers.pooled import IDLE
from proctor.sandbox.tiers.wasm.box import MARSHAL, BoxFolders, WasmBox
from proctor.sandbox.tiers.wasm.guest import WasmGuest
from proctor.sandbox.tiers.wasm.module import compiled, environment, library_beside, runner
from proctor.settings import load_settings
from proctor.storage.cache import Cache

CANDIDATES = (
    *("protocol.frames", "protocol.numpy_values", "protocol.values", "protocol.exceptions"),
    *("roles.import_denylist", "roles.candidate", "roles.registry"),
)
"""Files of `inside` that candidates need, each behind those that it imports."""
PROGRAM = "roles.program"
FIRST = "roles.wasi_boot"
VERSION = "import sys; print(sys.version)"
LIMITS = Limits(memory_bytes=512 * MIB, output_bytes=4 * MIB).with_seconds(60)
SUFFIX = ".wasm"
LABEL = "WASI: no threads, processes, numpy"


def open_wasm(
    python: str, packages: Sequence[str] | None = None, wished: Sequence[str] = ()
) -> "Wasm":
    """Open the tier with the module that is given as an interpreter, else that of the settings."""
    del wished  # what a benchmark would like is there or not, and here it is not
    if packages:
        raise InputError(
            f"candidate packages: the wasm tier has the standard library only, not {packages[0]}"
        )
    path = python if python.endswith(SUFFIX) else load_settings().wasm
    if path is None:
        raise SandboxError("it needs a WASI build of Python: --wasm PATH, or the setting wasm")
    return Wasm(Path(path))


class Wasm:
    """A tier whose guests are instances of one module."""

    def __init__(self, path: Path) -> None:
        self._path = path
        key, module = compiled(path)
        self._key = key
        self._command = [*runner(), "serve", str(module)]
        self._pools = {"": Pool(lambda: WasmBox(self._furniture), IDLE)}

    @property
    def _pool(self) -> Pool[WasmBox]:
        raise_if_cancelled()
        return self._pools[""]

    @cached_property
    def _furniture(self) -> BoxFolders:
        """Have the guests' own Python compile what they need, unless it has done so before."""
        names = (*CANDIDATES, PROGRAM, *EXAMINER_MODULES, FIRST)
        sources = [(name, (INSIDE / f"{name.replace('.', '/')}.py").read_text()) for name in names]
        given = marshal.dumps(sources, MARSHAL)
        cache = Cache("wasm-modules", 64 * MIB)
        key = sha256(self._key.encode() + given).hexdigest()[:32]
        bundle = cache.get(key)
        if bundle is None:
            bundle = self._bundle(dict(sources)[FIRST], given)
            cache.put(key, bundle)
        lines = (line.split() for line in bundle.decode().splitlines())
        code = {name: bytes.fromhex(text) for name, text in lines}
        candidate = [(name, code[name]) for name in CANDIDATES]
        examiner = [*candidate, *((name, code[name]) for name in EXAMINER_MODULES)]
        program = [(PROGRAM, code[PROGRAM])]
        return self._plain._replace(
            modules={
                "candidate": candidate,
                **dict.fromkeys(("examiner", "checker", "together"), examiner),
                **dict.fromkeys(("program", "compile"), program),
            },
            first=code[FIRST],
        )

    @property
    def _plain(self) -> BoxFolders:
        return BoxFolders(self._command, library_beside(self._path), environment(), {}, "")

    def _bundle(self, first: str, sources: bytes) -> bytes:
        box = WasmBox(self._plain._replace(first=first))
        try:
            answers, execution = box.exchange(sources, LIMITS, "bundle")
        finally:
            box.close()
        if execution.ending != Exited(0):
            said = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            why = said[0] if said else execution.ending
            raise SandboxError(f"{self._path} is no Python that can run candidates: {why}")
        return answers

    @cached_property
    def _enforcement(self) -> Enforcement:
        version = self.run(Program(source=VERSION), LIMITS)
        if version.ending != Exited(0):
            raise SandboxError(f"{self._path} does not run a first program: {version.ending}")
        files = "rlimit" if sys.platform != "win32" else "not enforced"
        return Enforcement(
            tier="wasm",
            isolated=True,
            clock="wall" if load_of_process(os.getpid()) is None else "schedstat",
            walls={
                "cpu_seconds": "watched",
                "wall_seconds": "watched",
                "memory_bytes": "wasmtime: memory of its own, up to 4 GiB",
                "output_bytes": "watched",
                "processes": "WASI: only one, without threads",
                "file_bytes": files,
                "scratch_bytes": "watched",
                "open_files": files,
                "files": "WASI: one folder of its own, and the standard library",
                "network": "WASI: no sockets",
                "other processes": "WASI: none in sight, no signals",
                "system calls": "WASI: none, only its functions",
            },
            toolchains={PYTHON: f"python {version.stdout.decode().split()[0]} ({LABEL})"},
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._enforcement

    def require_language(self, language: str) -> str:
        """Return the version of a language, which has to be Python."""
        if language != PYTHON:
            raise refuse_language("wasm tier", language)
        return self._enforcement.toolchains[PYTHON]

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        try:
            box = self._pool.take()
            try:
                return run_in_session(box, program, limits, stdin)
            finally:
                self._leave(box)
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))

    def run_job(self, job: Job) -> Execution:
        """Run one program once, among files that it is given."""
        program, limits = job.program, job.limits
        try:
            job.refuse_name(MAIN)
            return path_in_folder(
                self._pool, job, lambda box: run_in_session(box, program, limits, job.stdin)
            )
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))

    def repeat(self, program: Program, limits: Limits, *, times: int) -> FreshBoxRuns:
        """Prepare one program for so many runs."""
        self.require_language(program.language)
        box = self._pool.take()
        return FreshBoxRuns(box, program, limits, times, finally_=lambda: self._leave(box))

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> ExchangeResult:
        """Have a fresh guest answer requests that are all known."""
        box = self._pool.take()
        try:
            return box.exchange(requests, limits, role)
        finally:
            self._leave(box)

    def open(self, role: Role, limits: Limits) -> WasmGuest:
        """Start one guest that speaks the border protocol in the given role."""
        box = self._pool.take()
        return box.start(role, limits, finally_=lambda: self._leave(box))

    def native(self, language: str) -> NoReturn:
        """Say that there is no other language than Python here."""
        raise refuse_language("wasm tier", language)

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        return BoxSession(WasmBox(self._furniture), limits, idle_seconds)

    def notebook(self, limits: Limits) -> NoReturn:
        """Say that there are no notebooks here."""
        del limits
        raise SandboxError(
            "the wasm tier has no notebooks, because nothing can interrupt a cell there; "
            "use --sandbox kernel or contained"
        )

    def _leave(self, box: WasmBox) -> None:
        """Give a box back, empty; one that cannot be emptied goes."""
        try:
            box.wipe()
        except BaseException:
            box.close()
            raise
        self._pools[""].give_back(box)

    def idle(self) -> int:
        """Return how many boxes are warm and wait."""
        return self._pools[""].idle

    def close(self) -> None:
        """End all boxes that are not in use."""
        self._pools[""].close()
