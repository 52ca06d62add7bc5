"""Tries each isolation mechanism of the kernel, each in a separate short-lived process."""

import json
import os
import resource
import struct
import sys
from collections.abc import Callable

from . import landlock, libc

UNPRIVILEGED_UID = 65534
GETPPID = {"x86_64": 110, "aarch64": 173}
OTHER_NAMESPACES = libc.NEWIPC | libc.NEWUTS | libc.NEWCGROUP


def user_namespace(more_namespaces: int = 0) -> str:
    """Create a user namespace as an ordinary user, and more namespaces inside it."""
    if os.geteuid() == 0:
        os.setresgid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
        os.setresuid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
    user, group = os.getuid(), os.getgid()
    libc.unshare(libc.NEWUSER | more_namespaces)
    libc.map_user(0, user, group)
    return f"made by user {user}"


def mount_namespace() -> str:
    """Mount a tmpfs that only this process can see."""
    user_namespace(libc.NEWNS)
    libc.mount(None, "/", None, libc.RECURSIVE | libc.PRIVATE)
    libc.mount("try", "/tmp", "tmpfs", libc.NOSUID | libc.NODEV, "size=4k")
    return "a tmpfs mounted in it"


def pid_namespace() -> str:
    """Become the first process of a pid namespace, with a /proc that lists no other process."""
    user_namespace(libc.NEWNS | libc.NEWPID)
    libc.mount(None, "/", None, libc.RECURSIVE | libc.PRIVATE)
    child = os.fork()
    if child == 0:
        try:
            libc.mount("proc", "/proc", "proc", libc.NOSUID | libc.NODEV | libc.NOEXEC)
            visible_pids = [name for name in os.listdir("/proc") if name.isdigit()]
            os._exit(0 if visible_pids == ["1"] else 1)
        except OSError as error:
            os._exit(error.errno or 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, f"mount /proc: {os.strerror(status)}")
    return "its own /proc shows nobody else"


def network_namespace() -> str:
    """Enter a network namespace without interfaces."""
    user_namespace(libc.NEWNET)
    return "without any interface that is up"


def other_namespaces() -> str:
    """Create the namespaces for ipc, host name and cgroups."""
    user_namespace(OTHER_NAMESPACES)
    return "made"


def system_call_filter() -> str:
    """Install a filter that refuses a system call."""
    steps = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, GETPPID[os.uname().machine]),
        (0x06, 0, 0, 0x0005000D),  # errno 13
        (0x06, 0, 0, 0x7FFF0000),
    ]
    libc.Filter(b"".join(struct.pack("HBBI", *step) for step in steps)).install()
    if libc.LIBC.getppid() >= 0:
        raise OSError("the filter lets through what it should refuse")
    return "a call refused"


def files_out_of_reach() -> str:
    """Deny access to a world-readable folder with Landlock."""
    version = landlock.abi()
    if not version:
        raise OSError("this kernel has none, or it is switched off")
    landlock.Landlock(version, []).restrict([])
    try:
        os.listdir("/")
    except PermissionError:
        return f"ABI {version}, a folder refused"
    raise OSError("it lets through what it should refuse")


def own_user() -> str:
    """Change to an unused user id."""
    if os.geteuid() != 0:
        raise OSError("only root can become somebody else")
    os.setgroups([])
    os.setresgid(40000, 40000, 40000)
    os.setresuid(40000, 40000, 40000)
    return "became user 40000"


def limits() -> str:
    """Check that an allocation beyond RLIMIT_AS fails."""
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    try:
        bytearray(512 << 20)
    except MemoryError:
        return "memory refused"
    raise OSError("memory beyond a limit was given")


PROBES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("user namespace", user_namespace),
    ("mount namespace", mount_namespace),
    ("pid namespace", pid_namespace),
    ("network namespace", network_namespace),
    ("other namespaces", other_namespaces),
    ("system-call filter", system_call_filter),
    ("Landlock", files_out_of_reach),
    ("a user id of its own", own_user),
    ("resource limits", limits),
)


def attempt(probe: Callable[[], str]) -> tuple[bool, str]:
    """Run a probe in a child process; return whether it worked, and a detail."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = f"+{probe()}"
        except BaseException as error:
            answer = f"-{getattr(error, 'strerror', None) or error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        answer = file.read().decode() or "-the process died"
    os.waitpid(child, 0)
    return answer.startswith("+"), answer[1:]


def main() -> None:
    """Run all probes and print the results as JSON."""
    json.dump([[name, *attempt(probe)] for name, probe in PROBES], sys.stdout)
