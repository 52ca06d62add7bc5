"""Builds a box around the current process and starts a keeper in it.

This runs as a fresh process. It creates a root file system in memory with the candidate's
interpreter, the system's libraries and chosen packages, all read-only; a /dev with a few harmless
devices; and namespaces for users, mounts, processes, ipc, network, host name and cgroups. The box
contains no file of proctor or of the user: the keeper's source is read from a pipe.

Root builds the root file system first, while it may still read the user's files, and then drops
its rights for good. An ordinary user creates a user namespace first and builds inside it.
"""

import fcntl
import marshal
import os
import signal
import socket
import stat
import struct
import sys
from binascii import a2b_base64
from typing import Any

from . import libc

DEVICES = ("null", "full", "random", "urandom")
"""Without /dev/zero: a shared mapping of it is memory that no limit counts."""
LINKS = {
    "dev/fd": "/proc/self/fd",
    "dev/stdin": "/proc/self/fd/0",
    "dev/stdout": "/proc/self/fd/1",
    "dev/stderr": "/proc/self/fd/2",
    "dev/shm": "/tmp",
}
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
ALL_NAMESPACES = libc.NEWNS | libc.NEWPID | libc.NEWIPC | libc.NEWNET | libc.NEWUTS | libc.NEWCGROUP


def build(plan: dict[str, Any]) -> None:
    """Build the box, enter it, and exec the keeper's interpreter."""
    if os.geteuid() == 0:
        libc.unshare(libc.NEWNS)
        _make_root(plan)
        plan = _with_ring(plan)
        _drop_to_user(plan["user"])
        user, group = os.getuid(), os.getgid()
        libc.unshare(libc.NEWUSER | ALL_NAMESPACES)
        libc.map_user(0, user, group)
    else:
        user, group = os.getuid(), os.getgid()
        libc.unshare(libc.NEWUSER | ALL_NAMESPACES)
        libc.map_user(0, user, group)
        _make_root(plan)
    _enter_box(plan)


def build_in_container(plan: dict[str, Any]) -> None:
    """Build a box inside a container from those paths in `shown` that exist in its image."""
    if plan["namespaces"]:
        existing = [path for path in plan["shown"] if os.path.exists(path)]
        links = {path[1:]: os.readlink(path) for path in existing if os.path.islink(path)}
        binds = [(path, path) for path in existing if not os.path.islink(path)]
        build({**plan, "binds": binds, "links": links})
    os.mkdir(plan["folder"])
    os.execve(plan["argv"][0], plan["argv"], plan["environment"])


def _enter_box(plan: dict[str, Any]) -> None:
    _wait_for_box(os.fork())
    # from here on this is the first process of the box
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    flags = libc.NOSUID | libc.NODEV | libc.NOEXEC
    libc.mount("proc", "/proc", "proc", flags)
    socket.sethostname("box")
    if plan["loopback"]:
        _set_up_loopback()
    os.execve(plan["argv"][0], plan["argv"], plan["environment"])


def _set_up_loopback() -> None:
    """Bring up the loopback interface, with small socket buffers.

    No limit of a process counts the memory of socket buffers. Without TIME_WAIT, the port of a
    closed connection is free for the next guest at once.
    """
    for name, value in (
        *(("tcp_rmem", "4096 65536 262144"), ("tcp_wmem", "4096 65536 262144")),
        ("tcp_max_tw_buckets", "0"),
    ):
        with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as file:
            file.write(value)
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
    control.close()


def _wait_for_box(child: int) -> None:
    """In the parent, wait outside until the box ends, and exit with its status."""
    if child == 0:
        return
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    os.closerange(3, 1 << 16)
    _, status = os.waitpid(child, 0)
    os._exit(abs(os.waitstatus_to_exitcode(status)))


def _with_ring(plan: dict[str, Any]) -> dict[str, Any]:
    """Create the keeper's io_uring as root: its pinned pages do not count for RLIMIT_MEMLOCK."""
    try:
        ring = libc.io_uring()
    except OSError:
        return plan
    os.set_inheritable(ring, True)
    return {**plan, "argv": [*plan["argv"], str(ring)]}


def _drop_to_user(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)  # or our files in /proc would belong to root


def _make_root(plan: dict[str, Any]) -> None:
    root, flags = plan["root"], libc.NOSUID | libc.NODEV
    libc.mount(None, "/", None, libc.RECURSIVE | libc.PRIVATE)
    libc.mount("box", root, "tmpfs", flags, "size=16m,mode=755")
    for source, target in plan["binds"]:
        _bind(source, root + target)
    for target in plan["masks"]:
        libc.mount("nothing", root + target, "tmpfs", flags | libc.READ_ONLY, "size=4k,mode=755")
    for target, text in plan["files"].items():
        _write(root + target, text)
    for name in DEVICES:
        _bind(f"/dev/{name}", f"{root}/dev/{name}", device=True)
    for name in ("proc", "tmp", "old"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    # for what packages write when the keeper imports them; guests mount their own folder over it
    libc.mount("keeper", f"{root}/tmp", "tmpfs", flags, "size=16m,mode=777")
    for link, target in {**LINKS, **plan["links"]}.items():
        os.makedirs(os.path.dirname(f"{root}/{link}"), exist_ok=True)
        os.symlink(target, f"{root}/{link}")
    # the kernel allows mounting a new /proc only where one is visible; the new one covers this
    libc.mount("/proc", f"{root}/proc", None, libc.BIND | libc.RECURSIVE)
    os.chdir(root)
    libc.pivot_root(".", "old")
    os.chdir("/")
    libc.unmount("/old")
    os.rmdir("/old")
    libc.mount(None, "/", None, libc.REMOUNT | libc.BIND | libc.READ_ONLY | flags)


def _bind(source: str, target: str, *, device: bool = False) -> None:
    """Show a file or folder of the host in the box, read-only."""
    if stat.S_ISDIR(os.stat(source).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        _write(target, "")
    libc.mount(source, target, None, libc.BIND | libc.RECURSIVE)
    if not device:
        flags = libc.REMOUNT | libc.BIND | libc.READ_ONLY | libc.NOSUID | libc.NODEV
        libc.mount(None, target, None, flags | libc.locked_flags(target))


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main() -> None:
    """Build a box by the plan on the command line; print an error as one line."""
    plan = marshal.loads(a2b_base64(sys.argv[1]))  # noqa: S302  written by the supervisor
    try:
        build(plan)
    except OSError as error:
        os.write(2, f"{error}\n".encode())
        os._exit(1)
