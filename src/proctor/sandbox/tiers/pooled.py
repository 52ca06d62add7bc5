"""What tiers with warm boxes share: boxes of one kind in a pool, taken for one guest each."""

import os
import platform
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.errors import SandboxError
from proctor.languages import get_language
from proctor.records.execution import Enforcement, Execution, SandboxFailed, Tier
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import (
    SESSION_BYTES,
    SLOW,
    BoxContents,
    inspect_interpreter,
)
from proctor.sandbox.supervisor.box_pool import Pool
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.supervisor.job import Job, path_in_folder
from proctor.sandbox.supervisor.notebook import Notebook
from proctor.sandbox.supervisor.packages import (
    default_packages,
    normalize_name,
    package_entries,
    with_versions,
)
from proctor.sandbox.supervisor.protocols import PreparedProgram, Role
from proctor.sandbox.supervisor.repeated_runs import RepeatedRuns
from proctor.sandbox.supervisor.sessions import (
    MAIN,
    PYTHON,
    BoxSession,
    FreshBoxRuns,
    refuse_language,
    run_in_session,
)
from proctor.sandbox.supervisor.workspace import Workspace, furnish
from proctor.sandbox.toolchains.runner import ToolchainRunner
from proctor.settings import load_settings

IDLE = 2 * (os.cpu_count() or 1)


class TierSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a tier holds its guests to."""

    tier: Tier
    isolated: bool
    enforced_by: Mapping[str, str]
    clock: str = "schedstat"
    languages: bool = False
    """Whether it runs programs of other languages than Python."""


class PooledSandbox:
    """A tier whose boxes are kept for the next guest."""

    def __init__(
        self,
        contents: BoxContents,
        make: Callable[[BoxContents], Box],
        spec: TierSpec,
        *,
        mentioned: Sequence[str] = (),
        packages: Sequence[str] = (),
        idle: int = IDLE,
    ) -> None:
        """Make boxes with `make`; packages that a program mentions are loaded beforehand."""
        self._contents = contents
        self._make = make
        self._spec = spec
        self._mentioned = tuple(mentioned)
        self._slow = tuple(
            module for name in mentioned for module in SLOW.get(normalize_name(name), ())
        )
        self._packages = packages
        self._idle = idle
        self._toolchains = ToolchainRunner(contents, make, idle)
        self._pools: dict[tuple[bool, bool, int, tuple[str, ...]], Pool[Box]] = {}
        self._lock = threading.Lock()

    def _boxes(
        self,
        role: Role = "candidate",
        text: bytes = b"",
        *,
        loopback: bool,
        shared_bytes: int = 0,
    ) -> Pool[Box]:
        """Return boxes for a role, in which packages that are likely to be needed are loaded.

        For candidates these are the packages that a text mentions.
        """
        loaded: tuple[str, ...] = ()
        if role == "candidate":
            loaded = tuple(name for name in self._mentioned if name.encode() in text)
        elif role == "together":
            loaded = self._slow
        key = (role != "candidate", loopback, shared_bytes, loaded)
        raise_if_cancelled()
        with self._lock:
            if key not in self._pools:
                self._pools[key] = self._pool(*key)
            return self._pools[key]

    def _pool(
        self,
        examiner: bool,  # noqa: FBT001
        loopback: bool,  # noqa: FBT001
        shared_bytes: int,
        loaded: Sequence[str],
    ) -> Pool[Box]:
        contents = msgspec.structs.replace(
            self._contents,
            preload=[*self._contents.preload, *loaded],
            loopback=loopback,
            shared_bytes=shared_bytes,
            examiner=examiner,
        )
        return Pool(lambda: self._make(contents), self._idle)

    @cached_property
    def _enforcement(self) -> Enforcement:
        pool = self._boxes(loopback=False)
        pool.give_back(pool.take())
        return Enforcement(
            tier=self._spec.tier,
            isolated=self._spec.isolated,
            clock=self._spec.clock,
            walls=self._spec.enforced_by,
            toolchains={"python": f"python {self._contents.interpreter.version.split()[0]}"},
            packages=self._packages,
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        known = self._enforcement
        offered = self._toolchains.offered()
        if not offered:
            return known
        return msgspec.structs.replace(known, toolchains={**known.toolchains, **offered})

    def require_language(self, language: str) -> str:
        """Try a language if nobody has, and return its version."""
        if language == PYTHON:
            return self._enforcement.toolchains[PYTHON]
        return self._other(language).require(language).version

    def _other(self, language: str) -> ToolchainRunner:
        """Return what runs programs of a language that is not Python."""
        if not self._spec.languages:
            raise refuse_language(f"{self._spec.tier} tier", language)
        return self._toolchains

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        if program.language != PYTHON:
            try:
                return self._other(program.language).repeat(program, limits).run(stdin)
            except SandboxError as error:
                return Execution(ending=SandboxFailed(str(error)))
        text = program.source.encode("utf-8", "surrogatepass")
        pool = self._boxes(text=text, loopback=limits.loopback)
        try:
            box = pool.take()
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))
        try:
            return run_in_session(box, program, limits, stdin)
        finally:
            pool.give_back(box)

    def run_job(self, job: Job) -> Execution:
        """Run one program once, among files that it is given."""
        program, limits = job.program, job.limits
        try:
            if program.language != PYTHON:
                return self._other(program.language).run_job(job)
            if job.bare:
                return self.run(program, limits, job.stdin)
            job.refuse_name(MAIN)
            text = program.source.encode("utf-8", "surrogatepass")
            pool = self._boxes(
                text=text, loopback=limits.loopback, shared_bytes=limits.scratch_bytes
            )
            return path_in_folder(
                pool, job, lambda box: run_in_session(box, program, limits, job.stdin)
            )
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))

    def repeat(self, program: Program, limits: Limits, *, times: int) -> PreparedProgram:
        """Prepare one program for so many runs."""
        if program.language != PYTHON:
            return self._other(program.language).repeat(program, limits)
        text = program.source.encode("utf-8", "surrogatepass")
        pool = self._boxes(text=text, loopback=limits.loopback)
        box = pool.take()
        runs = FreshBoxRuns(box, program, limits, times, finally_=lambda: pool.give_back(box))
        return RepeatedRuns(box, program, limits, runs) if box.serial and times > 1 else runs

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> ExchangeResult:
        """Have a fresh guest answer requests that are all known."""
        pool = self._boxes(role, requests, loopback=limits.loopback)
        box = pool.take()
        try:
            return box.exchange(requests, limits, role)
        finally:
            pool.give_back(box)

    def open(self, role: Role, limits: Limits) -> Guest:
        """Start one process that speaks the border protocol in the given role."""
        pool = self._boxes(role, loopback=limits.loopback)
        box = pool.take()
        return box.start(role, limits, finally_=lambda: pool.give_back(box))

    def native(self, language: str) -> ToolchainRunner:
        """Return what compiles parts of programs and runs them with a border of their own."""
        toolchains = self._other(language)
        toolchains.require(language)
        return toolchains

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        contents = msgspec.structs.replace(
            self._contents, shared_bytes=SESSION_BYTES, loopback=limits.loopback
        )
        return BoxSession(self._make(contents), limits, idle_seconds)

    def notebook(self, limits: Limits) -> Notebook:
        """Open an interpreter that lives."""
        contents = msgspec.structs.replace(
            self._contents,
            shared_bytes=limits.scratch_bytes,
            loopback=limits.loopback,
            notebook=True,
        )
        return Notebook(self._make(contents), limits)

    def workspace(self, limits: Limits, languages: Sequence[str] = ()) -> Workspace:
        """Open a box for commands, with what programs of some languages need."""
        if not self._spec.languages:
            raise SandboxError(f"the {self._spec.tier} tier has no commands; use kernel")
        others = [name for name in languages if name != PYTHON]
        for name in others:
            self._toolchains.require(name)
        contents = furnish(self._contents, limits, others)
        return Workspace(
            self._make(contents),
            limits,
            packages=bool(contents.packages),
            addresses=all(get_language(name).address_space for name in others),
        )

    def idle(self) -> int:
        """Return how many boxes are warm and wait."""
        pools = [*self._pools.values()]
        return sum(pool.idle for pool in pools) + self._toolchains.idle()

    def close(self) -> None:
        """End all boxes that are not in use."""
        for pool in self._pools.values():
            pool.close()
        self._toolchains.close()


def open_pooled(
    spec: TierSpec,
    make: Callable[[BoxContents], Box],
    python: str,
    packages: Sequence[str] | None,
    wished: Sequence[str] = (),
) -> PooledSandbox:
    """Open a tier whose guests run an interpreter of this host, with some of its packages.

    If nobody says which, these are the default ones and those `wished` for that are installed.
    """
    if sys.platform != "linux" or platform.machine() not in seccomp.ARCHITECTURES:
        raise SandboxError(f"the {spec.tier} tier is for Linux, not {platform.platform()}")
    interpreter = inspect_interpreter(python)
    chosen = default_packages(interpreter.sites, wished) if packages is None else packages
    return PooledSandbox(
        BoxContents(
            interpreter=interpreter,
            packages=package_entries(chosen, interpreter.sites),
            tune_fork=load_settings().tune_fork,
        ),
        make,
        spec,
        mentioned=chosen,
        packages=with_versions(chosen, interpreter.sites),
    )
