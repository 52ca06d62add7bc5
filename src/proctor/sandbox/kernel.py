"""The kernel tier: real walls without root, Docker or cgroup set-up, at fork speed.

A box (see `inside/builder.py`) holds a keeper with a warm interpreter, which forks one guest after
the other, each into namespaces of its own (see `inside/namespaces.py`). Candidates and examiners
live in different boxes: they cannot see, signal, trace or read one another.

What is not covered: the kernel itself. A guest talks to the host's kernel through the system calls
that `seccomp.py` leaves, and a flaw in those is a way out.
"""

import json
import os
import platform
import sys
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import Enforcement, Execution, Limits, Role, SandboxFailed, seccomp
from proctor.sandbox.box import Box, Exchanged
from proctor.sandbox.contents import Contents, bundle, look_at, plan
from proctor.sandbox.guest import Guest
from proctor.sandbox.packages import default_packages, entries, with_versions
from proctor.sandbox.pool import Pool
from proctor.sandbox.sessions import BoxRuns, BoxSession, run_in

BUILD = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.builder import main
del sys.path[0]
main()
"""
IDLE = 2 * (os.cpu_count() or 1)


def kernel_box(contents: Contents) -> Box:
    """Build a box and start its keeper."""
    folder = str(Path(__file__).parent)

    def argv(fds: Sequence[int]) -> list[str]:
        how = json.dumps(plan(contents, fds))
        return [sys.executable, "-s", "-S", "-B", "-c", BUILD, folder, how]

    box = Box(argv, bundle(contents))
    box.find_keeper()
    if box.version != contents.interpreter.version:
        box.close()
        raise SandboxError(
            f"{contents.interpreter.executable} is {box.version.split()[0]} inside the box "
            f"but {contents.interpreter.version.split()[0]} outside of it"
        )
    return box


class Kernel:
    """The tier for Linux hosts that allow user namespaces."""

    def __init__(self, python: str = sys.executable, packages: Sequence[str] | None = None) -> None:
        if sys.platform != "linux" or platform.machine() not in seccomp.ARCHITECTURES:
            raise SandboxError(f"the kernel tier is for Linux, not {platform.platform()}")
        interpreter = look_at(python)
        chosen = default_packages(interpreter.sites) if packages is None else packages
        self._packages = tuple(chosen)
        shown = entries(chosen, interpreter.sites)
        self._contents = Contents(interpreter=interpreter, packages=shown)
        self._pools: dict[frozenset[str], Pool] = {}
        self._examiners = self._pool(frozenset(), examiner=True)
        self._lock = threading.Lock()

    def _pool(self, preload: frozenset[str], *, examiner: bool = False) -> Pool:
        contents = msgspec.structs.replace(
            self._contents,
            preload=[*self._contents.preload, *sorted(preload)],
            examiner=examiner,
        )
        return Pool(lambda: kernel_box(contents), IDLE)

    def _candidates(self, text: bytes) -> Pool:
        """Return boxes in which the packages that a text mentions are loaded already."""
        mentioned = frozenset(name for name in self._packages if name.encode() in text)
        with self._lock:
            if mentioned not in self._pools:
                self._pools[mentioned] = self._pool(mentioned)
            return self._pools[mentioned]

    @cached_property
    def _enforcement(self) -> Enforcement:
        pool = self._candidates(b"")
        pool.give_back(pool.take())
        return Enforcement(
            tier="kernel",
            isolated=True,
            clock="schedstat",
            walls={
                "cpu_seconds": "watched",
                "wall_seconds": "watched",
                "memory_bytes": "rlimit, each process; watched, all together",
                "output_bytes": "watched",
                "processes": "rlimit in a user namespace of its own",
                "file_bytes": "rlimit",
                "scratch_bytes": "tmpfs of its own",
                "open_files": "rlimit",
                "files": "mount namespace, read-only",
                "network": "network namespace without any, seccomp",
                "other processes": "pid namespace of its own",
                "system calls": "seccomp, no capabilities",
            },
            toolchains={"python": f"python {self._contents.interpreter.version.split()[0]}"},
            packages=with_versions(self._packages, self._contents.interpreter.sites),
        )

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._enforcement

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        pool = self._candidates(program.source.encode("utf-8", "surrogatepass"))
        try:
            box = pool.take()
        except SandboxError as error:
            return Execution(ending=SandboxFailed(str(error)))
        try:
            return run_in(box, program, limits, stdin)
        finally:
            pool.give_back(box)

    def repeat(self, program: Program, limits: Limits) -> BoxRuns:
        """Prepare one program for many runs."""
        pool = self._candidates(program.source.encode("utf-8", "surrogatepass"))
        box = pool.take()
        return BoxRuns(box, program, limits, finally_=lambda: pool.give_back(box))

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> Exchanged:
        """Have a fresh guest answer requests that are all known."""
        pool = self._candidates(requests) if role == "candidate" else self._examiners
        box = pool.take()
        try:
            return box.exchange(requests, limits, role)
        finally:
            pool.give_back(box)

    def open(self, role: Role, limits: Limits) -> Guest:
        """Start one process that speaks the border protocol in the given role."""
        pool = self._candidates(b"") if role == "candidate" else self._examiners
        box = pool.take()
        return box.start(role, limits, finally_=lambda: pool.give_back(box))

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        contents = msgspec.structs.replace(self._contents, shared=True)
        return BoxSession(kernel_box(contents), limits, idle_seconds)

    def close(self) -> None:
        """End all boxes that are not in use."""
        for pool in (*self._pools.values(), self._examiners):
            pool.close()
