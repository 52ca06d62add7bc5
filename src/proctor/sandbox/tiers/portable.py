"""The portable tier: a fresh interpreter for every candidate, limits where the system has them.

Not isolated: a guest runs as the user, sees the user's files and the network, and can signal
the user's processes. What does hold: clocks, output and memory limits, no secrets in its
environment, no package of the user's in its path, and nothing of it left running or lying about.
"""

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from proctor.errors import SandboxError
from proctor.records.execution import Enforcement, Execution, SandboxFailed
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.limits.clock import load_of_descendants
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import inspect_interpreter
from proctor.sandbox.supervisor.box_pool import Pool
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.supervisor.job import Job, path_in_folder
from proctor.sandbox.supervisor.notebook import Notebook
from proctor.sandbox.supervisor.packages import default_packages, package_entries, with_versions
from proctor.sandbox.supervisor.protocols import Role
from proctor.sandbox.supervisor.sessions import (
    MAIN,
    PYTHON,
    BoxSession,
    FreshBoxRuns,
    refuse_language,
    run_in_session,
)
from proctor.sandbox.supervisor.temp_dirs import LockedTempDir, show_packages
from proctor.sandbox.toolchains.runner import ToolchainRunner

BOOT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.isolation.unisolated import Unisolated
from inside.keeper.guest_setup import reset_signals
from inside.keeper.keeper import keep
del sys.path[0]
reset_signals()
keep(int(sys.argv[1]), Unisolated(sys.argv[2]))
"""


def portable_box(python: str, packages: Sequence[tuple[str, str]]) -> Box:
    """Start a keeper without walls."""

    def fill(folder: Path) -> None:
        (folder / "scratch").mkdir()
        show_packages(folder / "packages", packages)

    place = LockedTempDir(fill)
    start = [python, "-s", "-S", "-B", "-c", BOOT, str(Path(__file__).parents[1])]
    return Box(lambda fds: [*start, str(fds[0]), str(place.path)], place=place)


class Portable:
    """The tier for hosts where nothing better works."""

    def __init__(
        self,
        python: str = sys.executable,
        packages: Sequence[str] | None = None,
        wished: Sequence[str] = (),
    ) -> None:
        self._python = python
        self._packages = packages
        self._wished = wished

    def _box(self) -> Box:
        return portable_box(self._python, self._shown)

    @cached_property
    def _names(self) -> Sequence[str]:
        chosen = self._packages
        sites = inspect_interpreter(self._python).sites
        return default_packages(sites, self._wished) if chosen is None else chosen

    @cached_property
    def _shown(self) -> list[tuple[str, str]]:
        return package_entries(self._names, inspect_interpreter(self._python).sites)

    @cached_property
    def _enforcement(self) -> Enforcement:
        box = self._box()
        box.close()
        told = load_of_descendants(os.getpid()) is not None
        watched = "watched" if told else "not enforced"
        return Enforcement(
            tier="portable",
            isolated=False,
            clock="schedstat" if told else "wall",
            walls={
                "cpu_seconds": watched,
                "wall_seconds": "watched",
                "memory_bytes": f"rlimit, each process; {watched}, all together",
                "output_bytes": "watched",
                "processes": watched,
                "file_bytes": "rlimit",
                "scratch_bytes": "not enforced",
                "open_files": "rlimit",
                "files": "not enforced",
                "network": "not enforced",
                "other processes": "not enforced",
                "system calls": "not enforced",
            },
            toolchains={"python": f"python {box.version.split()[0]}"},
            packages=with_versions(self._names, inspect_interpreter(self._python).sites),
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._enforcement

    def require_language(self, language: str) -> str:
        """Return the version of a language, which has to be Python."""
        if language != PYTHON:
            raise refuse_language("portable tier", language)
        return self._enforcement.toolchains[PYTHON]

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        try:
            self.require_language(program.language)
            box = self._box()
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))
        try:
            return run_in_session(box, program, limits, stdin)
        finally:
            box.close()

    def run_job(self, job: Job) -> Execution:
        """Run one program once, among files that it is given."""
        program, limits = job.program, job.limits
        try:
            self.require_language(program.language)
            job.refuse_name(MAIN)
            pool = Pool(self._box, idle=0)
            return path_in_folder(
                pool, job, lambda box: run_in_session(box, program, limits, job.stdin)
            )
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))

    def repeat(self, program: Program, limits: Limits, *, times: int) -> FreshBoxRuns:
        """Prepare one program for so many runs."""
        self.require_language(program.language)
        box = self._box()
        return FreshBoxRuns(box, program, limits, times, finally_=box.close)

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> ExchangeResult:
        """Have a fresh guest answer requests that are all known."""
        box = self._box()
        try:
            return box.exchange(requests, limits, role)
        finally:
            box.close()

    def open(self, role: Role, limits: Limits) -> Guest:
        """Start one process that speaks the border protocol in the given role."""
        box = self._box()
        return box.start(role, limits, finally_=box.close)

    def native(self, language: str) -> ToolchainRunner:
        """Say that there is no other language than Python here."""
        raise refuse_language("portable tier", language)

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        return BoxSession(self._box(), limits, idle_seconds)

    def notebook(self, limits: Limits) -> Notebook:
        """Open an interpreter that lives."""
        return Notebook(self._box(), limits)

    def close(self) -> None:
        """Nothing is kept between candidates, so nothing is left to end."""
