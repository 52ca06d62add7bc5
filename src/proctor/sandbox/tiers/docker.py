"""The docker tier: one container per worker, with the same keeper as in the kernel tier.

Containers have no network, a read-only root, no capabilities, an unprivileged user, and limits on
memory and processes. If the host of the daemon allows user namespaces in containers, the keeper
forks each guest into fresh namespaces. Otherwise a container serves one guest, which the filter of
the contained tier restricts to one process.

Candidates see the files and packages of the image: use one without private data. The daemon must
run on this machine, because file descriptors are passed into the container.
"""

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from proctor.errors import SandboxError
from proctor.records.execution import Enforcement, Execution
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents, inspect_interpreter
from proctor.sandbox.supervisor.bundle import bundle
from proctor.sandbox.supervisor.exchange import ExchangeResult
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.supervisor.job import Job
from proctor.sandbox.supervisor.notebook import Notebook
from proctor.sandbox.supervisor.protocols import PreparedProgram, Role
from proctor.sandbox.supervisor.sessions import BoxSession
from proctor.sandbox.supervisor.temp_dirs import LockedTempDir
from proctor.sandbox.tiers.docker_container import (
    Image,
    command,
    inspect_image,
    note,
    profile,
    tier_spec,
)
from proctor.sandbox.tiers.pooled import IDLE, PooledSandbox
from proctor.sandbox.toolchains.runner import ToolchainRunner
from proctor.settings import load_settings

PASS_FDS = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.isolation.docker_fd_passing import main
del sys.path[0]
main()
"""


def open_docker(
    python: str = sys.executable,
    packages: Sequence[str] | None = None,
    wished: Sequence[str] = (),
) -> "Docker":
    """Open the tier for hosts with a Docker daemon."""
    version = ".".join(inspect_interpreter(python).version.split(".")[:2])
    name = load_settings().docker_image or f"python:{version}-slim"
    return Docker(inspect_image(name), packages, wished)


def docker_box(contents: BoxContents, image: Image, limits: Limits, *, namespaces: bool) -> Box:
    """Start a container and a keeper in it."""

    def fill(folder: Path) -> None:
        folder.chmod(0o755)
        (folder / "seccomp.json").write_text(json.dumps(profile()))

    place = LockedTempDir(fill)
    folder = str(place.path)
    name = f"proctor-{secrets.token_hex(8)}"
    container_note, environment = note(contents, namespaces=namespaces)
    spec = {
        "folder": folder,
        "command": command(name, image, folder, limits),
        "note": container_note,
    }

    def argv(fds: Sequence[int]) -> list[str]:
        start = [sys.executable, "-s", "-S", "-B", "-c", PASS_FDS, str(Path(__file__).parents[1])]
        return [*start, json.dumps(spec), *map(str, fds)]

    content = bundle(contents, environment, image.interpreter.sites)
    box = Box(argv, content, environment=None, place=place)
    first = _first_process(name)
    if not _runs(first, image.interpreter.executable):
        box.close()
        raise SandboxError("the Docker daemon is not on this machine, or its processes are hidden")
    if namespaces:
        box.find_keeper(first)
    else:
        box.keeper = first
    return box


def _first_process(name: str) -> int:
    """Return the pid that the first process of a container has out here."""
    inspect = ["docker", "inspect", "--format", "{{.State.Pid}}", name]
    answer = subprocess.run(inspect, capture_output=True, text=True, check=False)
    return int(answer.stdout.strip() or 0)


def _runs(pid: int, executable: str) -> bool:
    """Say whether a process is there that runs a program: the daemon may count pids otherwise."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(executable.encode() + b"\0")
    except OSError:
        return False


class Docker:
    """Containers from one image, for as many kinds of limits as are asked for."""

    def __init__(
        self, image: Image, packages: Sequence[str] | None, wished: Sequence[str] = ()
    ) -> None:
        self._image = image
        self._contents = BoxContents(
            interpreter=image.interpreter, tune_fork=load_settings().tune_fork
        )
        self._packages = image.choose(packages, wished)
        self._lock = threading.Lock()
        self._warm: dict[tuple[int, int, int], PooledSandbox] = {}

    @cached_property
    def _refusal(self) -> str | None:
        """Why no namespaces can be made in a container here; None if they can."""
        try:
            docker_box(self._contents, self._image, Limits(), namespaces=True).close()
        except SandboxError as error:
            return str(error).splitlines()[-1]
        return None

    def _under(self, limits: Limits) -> PooledSandbox:
        """Return boxes whose containers leave room for some limits."""
        key = (limits.memory_bytes, limits.scratch_bytes, limits.processes)
        refusal = self._refusal
        with self._lock:
            if key not in self._warm:
                self._warm[key] = PooledSandbox(
                    msgspec.structs.replace(
                        self._contents, packages=[(name, "") for name in self._packages]
                    ),
                    lambda contents: docker_box(
                        contents, self._image, limits, namespaces=refusal is None
                    ),
                    tier_spec(refusal),
                    mentioned=self._packages,
                    packages=[f"{name}=={self._image.packages[name]}" for name in self._packages],
                    idle=IDLE if refusal is None else 0,
                )
            return self._warm[key]

    def enforcement(self) -> Enforcement:
        """Return what holds here."""
        return self._under(Limits()).enforcement()

    def require_language(self, language: str) -> str:
        """Return the version of a language, which has to be Python."""
        return self._under(Limits()).require_language(language)

    def run(self, program: Program, limits: Limits, stdin: bytes = b"") -> Execution:
        """Run one program once, in an empty scratch folder."""
        return self._under(limits).run(program, limits, stdin)

    def run_job(self, job: Job) -> Execution:
        """Run one program once, among files that it is given."""
        return self._under(job.limits).run_job(job)

    def repeat(self, program: Program, limits: Limits, *, times: int) -> PreparedProgram:
        """Prepare one program for so many runs."""
        return self._under(limits).repeat(program, limits, times=times)

    def exchange(self, requests: bytes, limits: Limits, role: Role = "candidate") -> ExchangeResult:
        """Have a fresh guest answer requests that are all known."""
        return self._under(limits).exchange(requests, limits, role)

    def open(self, role: Role, limits: Limits) -> Guest:
        """Start one process that speaks the border protocol in the given role."""
        return self._under(limits).open(role, limits)

    def native(self, language: str) -> ToolchainRunner:
        """Say that there is no other language than Python here."""
        return self._under(Limits()).native(language)

    def session(self, limits: Limits, idle_seconds: float = 600.0) -> BoxSession:
        """Open a box that lives."""
        return self._under(limits).session(limits, idle_seconds)

    def notebook(self, limits: Limits) -> Notebook:
        """Open an interpreter that lives."""
        return self._under(limits).notebook(limits)

    def close(self) -> None:
        """End all containers that are not in use."""
        for warm in self._warm.values():
            warm.close()
