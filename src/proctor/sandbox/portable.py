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
from proctor.program import Program
from proctor.sandbox import Enforcement, Execution, Limits, Role, SandboxFailed
from proctor.sandbox.box import Box
from proctor.sandbox.clock import load_below
from proctor.sandbox.contents import look_at
from proctor.sandbox.exchange import Exchanged
from proctor.sandbox.foreign import Foreign
from proctor.sandbox.guest import Guest
from proctor.sandbox.job import Job, in_folder
from proctor.sandbox.notebooks import Notebook
from proctor.sandbox.packages import default_packages, entries, with_versions
from proctor.sandbox.place import Place, show_packages
from proctor.sandbox.pool import Pool
from proctor.sandbox.sessions import MAIN, PYTHON, BoxRuns, BoxSession, not_here, run_in

BOOT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.folder import Folder
from inside.keeper import keep
from inside.roles import hear_signals
del sys.path[0]
hear_signals()
keep(int(sys.argv[1]), Folder(sys.argv[2]))
"""


def portable_box(python: str, packages: Sequence[tuple[str, str]]) -> Box:
    """Start a keeper without walls."""

    def fill(folder: Path) -> None:
        (folder / "scratch").mkdir()
        show_packages(folder / "packages", packages)

    place = Place(fill)
    start = [python, "-s", "-S", "-B", "-c", BOOT, str(Path(__file__).parent)]
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
        sites = look_at(self._python).sites
        return default_packages(sites, self._wished) if chosen is None else chosen

    @cached_property
    def _shown(self) -> list[tuple[str, str]]:
        return entries(self._names, look_at(self._python).sites)

    @cached_property
    def _enforcement(self) -> Enforcement:
        box = self._box()
        box.close()
        told = load_below(os.getpid()) is not None
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
            packages=with_versions(self._names, look_at(self._python).sites),
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._enforcement

    def offer(self, language: str) -> str:
        """Return the version of a language, which has to be Python."""
        if language != PYTHON:
            raise not_here("portable tier", language)
        return self._enforcement.toolchains[PYTHON]

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        try:
            self.offer(program.language)
            box = self._box()
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))
        try:
            return run_in(box, program, limits, stdin)
        finally:
            box.close()

    def carry_out(self, job: Job) -> Execution:
        """Run one program once, among files that it is given."""
        program, limits = job.program, job.limits
        try:
            self.offer(program.language)
            job.refuse_name(MAIN)
            pool = Pool(self._box, idle=0)
            return in_folder(pool, job, lambda box: run_in(box, program, limits, job.stdin))
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))

    def repeat(self, program: Program, limits: Limits, *, times: int) -> BoxRuns:
        """Prepare one program for so many runs."""
        self.offer(program.language)
        box = self._box()
        return BoxRuns(box, program, limits, times, finally_=box.close)

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> Exchanged:
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

    def native(self, language: str) -> Foreign:
        """Say that there is no other language than Python here."""
        raise not_here("portable tier", language)

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        return BoxSession(self._box(), limits, idle_seconds)

    def notebook(self, limits: Limits) -> Notebook:
        """Open an interpreter that lives."""
        return Notebook(self._box(), limits)

    def close(self) -> None:
        """Nothing is kept between candidates, so nothing is left to end."""
