"""What a container of the docker tier is made of: its image, its flags, its walls."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.records.limits import MIB, Limits
from proctor.sandbox.inside.isolation.docker_fd_passing import CONTAINER_BOOT
from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.box_contents import ASK, BoxContents, Interpreter
from proctor.sandbox.supervisor.bundle import (
    INSIDE,
    EnvironmentSpec,
    boot_command,
    kernel_environment,
)
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.packages import DEFAULT, REFUSED, normalize_name
from proctor.sandbox.supervisor.rootfs import FILES
from proctor.sandbox.tiers.kernel import ENFORCED_BY
from proctor.sandbox.tiers.pooled import TierSpec

NOBODY = "65534:65534"
SPARE_BYTES, SPARE_PROCESSES = 256 * MIB, 16
"""What the keeper itself needs."""
BUILDER = ("isolation.libc", "isolation.build_box")
"""Files of `inside` that build a box in a container, each behind those that it imports."""
PLACE = "/tmp/box"  # noqa: S108  in a file system of the container's own
SHOWN = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
"""What of an image is in sight."""
READABLE = ("/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/ld.so.cache")
FLAGS = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL", "--user", NOBODY),
    *("--security-opt", "no-new-privileges", "--log-driver", "none", "--pull", "never"),
)
OPEN_FLAGS = (
    *("--security-opt", "apparmor=unconfined"),  # its profile denies mounts of every kind
    *("--security-opt", "systempaths=unconfined"),  # or no guest could have a /proc of its own
)

ASK_PACKAGES = """
from importlib.metadata import distributions
print(json.dumps({d.name: d.version for d in distributions()}))
"""


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image with a Python in it."""

    name: str
    interpreter: Interpreter
    packages: Mapping[str, str]
    """What is installed in it, with versions."""

    def choose(self, names: Sequence[str] | None, wished: Sequence[str] = ()) -> list[str]:
        """Return which of its packages candidates may import; by default some that are known."""
        installed = {normalize_name(name): name for name in self.packages}
        if refused := sorted(REFUSED & set(installed)):
            raise InputError(
                f"docker_image: {self.name} has {refused[0]}, from which answers could be read"
            )
        usual = dict.fromkeys(normalize_name(name) for name in (*DEFAULT, *wished))
        chosen = [name for name in usual if name in installed] if names is None else names
        for name in chosen:
            if normalize_name(name) not in installed:
                raise InputError(f"candidate_packages: {name} is not in {self.name}")
        return [installed[normalize_name(name)] for name in chosen]


@lru_cache(maxsize=16)
def inspect_image(name: str) -> Image:
    """Ask the Python of an image about itself."""
    _ask("version", "--format", "{{.Server.Version}}", then="start the Docker daemon")
    _ask("image", "inspect", "--format", "{{.Id}}", name, then=f"docker pull {name}")
    python = ("--entrypoint", "python3", name, "-I", "-c", ASK + ASK_PACKAGES)
    said = _ask("run", "--rm", *FLAGS, *python, then="choose an image with a Python in it")
    try:
        interpreter, packages = said.splitlines()
        return Image(
            name=name,
            interpreter=msgspec.json.decode(interpreter, type=Interpreter),
            packages=msgspec.json.decode(packages, type=dict[str, str]),
        )
    except (ValueError, msgspec.DecodeError) as error:
        raise SandboxError(f"the Python of {name} cannot run candidates: {error}") from None


def _ask(*args: str, then: str) -> str:
    """Return what docker says, or say what to do."""
    try:
        answer = subprocess.run(
            ["docker", *args],  # noqa: S607  whichever docker the user uses
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except subprocess.CalledProcessError as error:
        why = (error.stderr.strip().splitlines() or ["no reason given"])[0]
        raise SandboxError(f"docker {args[0]}: {why.removeprefix('docker: ')}; {then}") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"there is no docker command: {error}; {then}") from None
    return answer.stdout


def command(name: str, image: Image, folder: str, limits: Limits) -> list[str]:
    """Return the command that starts a container; its door and its profile are in a folder."""
    memory = str(limits.memory_bytes + limits.scratch_bytes + SPARE_BYTES)
    scratch = f"/tmp:rw,nosuid,nodev,size={limits.scratch_bytes},mode=1777"  # noqa: S108
    return [
        *("docker", "run", "--rm", "--name", name, *FLAGS, *OPEN_FLAGS),
        *("--security-opt", f"seccomp={folder}/seccomp.json"),
        *("--memory", memory, "--memory-swap", memory),
        *("--pids-limit", str(limits.processes + SPARE_PROCESSES)),
        *("--tmpfs", scratch, "--volume", f"{folder}:/proctor:ro"),
        *("--entrypoint", image.interpreter.executable, image.name),
        *("-s", "-S", "-B", "-c", CONTAINER_BOOT),
    ]


def profile() -> dict[str, Any]:
    """Return a seccomp profile for containers: what we deny guests, less what keepers need."""
    denied = sorted(set(seccomp.DENIED) - seccomp.KEEPERS)
    rule = {"names": denied, "action": "SCMP_ACT_ERRNO", "errnoRet": seccomp.EPERM}
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}


def note(contents: BoxContents, *, namespaces: bool) -> tuple[dict[str, Any], EnvironmentSpec]:
    """Return the note for a container, and the environment of its guests."""
    home = "/tmp" if namespaces else f"{PLACE}/scratch"  # noqa: S108
    prefix = contents.interpreter.prefix
    plan = {
        "namespaces": namespaces,
        "shown": [*SHOWN, *([] if prefix.startswith("/usr") else [prefix])],
        "masks": [],
        "files": FILES,
        "loopback": contents.loopback,
        "root": "/tmp",  # noqa: S108
        "folder": PLACE,
        "argv": boot_command(contents, ()),
        "environment": {**ENVIRONMENT, "HOME": home, "TMPDIR": home},
    }
    modules = [[name, (INSIDE / f"{name.replace('.', '/')}.py").read_text()] for name in BUILDER]
    environment = kernel_environment(contents) if namespaces else _one_process(contents)
    return {"modules": modules, "plan": plan}, environment


def _one_process(contents: BoxContents) -> EnvironmentSpec:
    """Return the environment of a container's only guest, which must not read its keeper either."""
    from proctor.sandbox.inside.isolation import landlock  # noqa: PLC0415  loads what only Linux has

    interpreter = contents.interpreter
    shown = (*READABLE, f"{interpreter.prefix}/lib", interpreter.stdlib, *interpreter.sites)
    devices = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
    return EnvironmentSpec(
        modules=("isolation.landlock", "isolation.cleanup", "isolation.contained"),
        name="Contained",
        filter_code=seccomp.contained_program(platform.machine(), own_user=True),
        arguments={
            "folder": PLACE,
            "own_pid": seccomp.OWN_PID,
            "abi": landlock.abi(),
            "rules": [
                *((path, landlock.READ) for path in shown),
                *((path, landlock.DEVICE) for path in devices),
            ],
            "users": None,
            "kept_capabilities": 0,
            "shared_scratch": contents.shared_bytes > 0,
        },
    )


def tier_spec(refusal: str | None) -> TierSpec:
    """Return what containers hold their guests to; `refusal` says why they have no namespaces."""
    enforced_by = {
        **ENFORCED_BY,
        "memory_bytes": "rlimit, each process; cgroup of the container, all together",
        "files": "mount namespace, read-only, what the image has in /usr",
    }
    if refusal is not None:
        enforced_by |= {
            "processes": "seccomp: only one, with threads",
            "scratch_bytes": "tmpfs of the container",
            "files": "those of the image, read-only",
            "other processes": f"a container for each candidate; no namespaces: {refusal}",
        }
    return TierSpec(tier="docker", isolated=True, enforced_by=enforced_by)
