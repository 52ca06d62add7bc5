"""System calls that Python does not offer, by ctypes; each raises OSError with its name."""

import ctypes
import os
import signal
import struct
from collections.abc import Callable, Iterator, Sequence

Steps = Iterator[tuple[Callable[..., object], tuple[object, ...]]]
Call = tuple[str, Callable[..., int], tuple[object, ...]]
"""A description for error messages, a function of the C library, and its arguments."""

LIBC = ctypes.CDLL(None, use_errno=True)

CLONE_VM = 0x100
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

READ_ONLY, NOSUID, NODEV, NOEXEC, REMOUNT = 1, 2, 4, 8, 32
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
DETACH = 2
RELATIME = 1 << 21

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_SECCOMP = 1, 4, 8, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION = 0x20080522
SCHEDULING_CALLS = {"x86_64": (315, 252), "aarch64": (275, 31)}.get(os.uname().machine, (0, 0))
"""The numbers of sched_getattr and ioprio_get."""

IO_URING_SETUP, IO_URING_REGISTER = 425, 427
IO_URING_PARAMETERS_BYTES, REGISTER_BUFFERS = 120, 0

LIBC.signal.argtypes = (ctypes.c_int, ctypes.c_long)
LIBC.signal.restype = ctypes.c_long
_FORK = ctypes.PyDLL(None, use_errno=True).fork
WAIT_ANY_CHILD = os.WEXITED | os.WNOHANG | os.WNOWAIT


def check(result: int, what: str) -> int:
    """Return the result of a call; raise OSError if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


class PreparedCalls:
    """System calls with their arguments converted, to be made after a fork."""

    def __init__(self, *calls: Call) -> None:
        self._calls = calls

    def run(self) -> None:
        """Make all calls in order."""
        for what, function, args in self._calls:
            if function(*args) < 0:
                check(-1, what)


def run_calls(*calls: Call) -> None:
    """Make system calls in order."""
    PreparedCalls(*calls).run()


def fork() -> int:
    """Fork without Python's fork hooks, for processes in which no module has registered one."""
    pid: int = _FORK()
    return pid if pid >= 0 else check(pid, "fork")


def has_children() -> bool:
    """Return True if a child is left; faster than os.waitid, which raises an exception if not."""
    return bool(LIBC.waitid(os.P_ALL, 0, None, WAIT_ANY_CHILD) == 0)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    check(LIBC.unshare(flags), "unshare")


def setns(fd: int, kind: int) -> None:
    """Join a namespace."""
    check(LIBC.setns(fd, kind), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or change a mount."""
    run_calls(mount_call(source, target, kind, flags, data))


def mount_call(
    source: str | None, target: str, kind: str | None, flags: int, data: str = ""
) -> Call:
    """Return the call that mounts a file system, or changes a mount."""
    strings = [None if text is None else text.encode() for text in (source, target, kind)]
    return f"mount {target}", LIBC.mount, (*strings, ctypes.c_ulong(flags), data.encode() or None)


def locked_flags(path: str) -> int:
    """Return the flags of a mount that a remount must not clear."""
    now = os.statvfs(path).f_flag
    kept = now & (NOSUID | NODEV | NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    return kept | (RELATIME if now & os.ST_RELATIME else 0)


def unmount(target: str) -> None:
    """Detach a mount; the kernel releases it when it is no longer in use."""
    check(LIBC.umount2(target.encode(), DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make the folder `new` the root, and mount the old root at `old`."""
    check(LIBC.pivot_root(new.encode(), old.encode()), "pivot_root")


def prctl(option: int, value: int = 0, pointer: object = 0) -> None:
    """Set an attribute of this process."""
    check(LIBC.prctl(option, ctypes.c_ulong(value), pointer, 0, 0), f"prctl {option}")


def drop_capabilities(but: int = 0) -> None:
    """Drop every capability for good, except those in the bit set `but`."""
    run_calls(drop_capabilities_call(but))


def drop_capabilities_call(but: int = 0) -> Call:
    """Return the call that drops capabilities."""
    header = struct.pack("II", CAPABILITY_VERSION, 0)
    return "capset", LIBC.capset, (header, struct.pack("III", but, but, 0) + bytes(12))


def use_capabilities(used: int) -> None:
    """Set the effective capabilities; the permitted ones stay."""
    header = struct.pack("II", CAPABILITY_VERSION, 0)
    now = ctypes.create_string_buffer(24)
    check(LIBC.capget(header, now), "capget")
    wanted = struct.pack("I", used) + now.raw[4:12] + bytes(4) + now.raw[16:]
    check(LIBC.capset(header, wanted), "capset")


def system_call(what: str, number: int, *args: object) -> int:
    """Make a system call that the C library has no function for."""
    return check(LIBC.syscall(number, *args, 0, 0), what)


def io_uring() -> int:
    """Return the descriptor of a new io_uring."""
    parameters = ctypes.create_string_buffer(IO_URING_PARAMETERS_BYTES)
    return system_call("io_uring_setup", IO_URING_SETUP, 1, parameters)


def register_buffers(ring: int, buffers: bytes) -> None:
    """Have a ring pin memory; `buffers` holds address and size of each area, 64 bits each."""
    count = len(buffers) // 16
    buffer = ctypes.c_char_p(buffers)
    system_call("io_uring_register", IO_URING_REGISTER, ring, REGISTER_BUFFERS, buffer, count)


def scheduling_state(pid: int) -> tuple[bytes, int]:
    """Return the CPU scheduling attributes and the I/O priority of a process."""
    attributes, priority = SCHEDULING_CALLS
    found = ctypes.create_string_buffer(64)
    system_call("sched_getattr", attributes, pid, found, len(found))
    return found.raw, system_call("ioprio_get", priority, 1, pid)


def map_user(inside: int, outside_user: int, outside_group: int) -> None:
    """Map our user and group into a new user namespace, and forbid setgroups in it."""
    free = os.dup(0)
    os.close(free)
    for function, args in (
        *write_steps("/proc/self/setgroups", b"deny", free),
        *map_user_steps(inside, outside_user, outside_group, free, "/proc/self"),
    ):
        function(*args)


def map_user_steps(
    inside: int, outside_user: int, outside_group: int, free: int, own: str
) -> Steps:
    """Yield the steps that write the maps; `free` is the first free descriptor.

    `own` is this process's folder in /proc. setgroups must already be denied, in this namespace
    or in the one around it.
    """
    yield from write_steps(f"{own}/uid_map", b"%d %d 1" % (inside, outside_user), free)
    yield from write_steps(f"{own}/gid_map", b"%d %d 1" % (inside, outside_group), free)


def write_steps(path: str, text: bytes, free: int) -> Steps:
    """Yield the steps that write to a file; `free` is the first free descriptor."""
    yield os.open, (path, os.O_WRONLY)
    yield os.write, (free, text)
    yield os.close, (free,)


class Filter:
    """A seccomp program, ready to be installed."""

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    def __init__(self, code: bytes) -> None:
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = self._Program(len(code) // 8, ctypes.addressof(self._code))
        self._pointer = ctypes.byref(self._program)

    def install(self) -> None:
        """Restrict this process and its future children to what the filter allows."""
        run_calls(*self.install_calls)

    @property
    def install_calls(self) -> Sequence[Call]:
        """The calls that install the filter."""
        return (
            ("no new privileges", LIBC.prctl, (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
            ("seccomp", LIBC.prctl, (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._pointer, 0, 0)),
        )


class Collector:
    """Reaps children; writes the report about them to one buffer, which can be wiped.

    The report holds a wait status, the usage of one child, and that of all children ever reaped.
    """

    USAGE = 144
    CHILDREN = -1

    def __init__(self) -> None:
        self._report = (ctypes.c_char * (8 + 2 * self.USAGE))()
        status, one, all_ = (
            ctypes.byref(self._report, offset) for offset in (0, 8, 8 + self.USAGE)
        )
        self._pointers = status, one
        self._children_usage = all_

    def collect(self, pid: int) -> memoryview:
        """Wait for a child, then kill and reap all others; return the report."""
        status, usage = self._pointers
        check(LIBC.wait4(pid, status, 0, usage), "wait4")
        while has_children():
            if LIBC.wait4(-1, None, os.WNOHANG, None) == 0:
                os.kill(-1, signal.SIGKILL)
                LIBC.wait4(-1, None, 0, None)
        LIBC.getrusage(self.CHILDREN, self._children_usage)
        return memoryview(self._report).cast("B")


class Pauser:
    """Starts processes that only wait; they share our memory, so starting one is fast.

    The first process of a pid namespace is its init: when it dies, the kernel kills all others in
    the namespace, and fatal signals from inside do not reach it. A candidate that was the init
    could not even kill itself. So a process started here is the init, and waits for ever.
    """

    STACK = 8 * 1024

    def __init__(self) -> None:
        self._stack = ctypes.create_string_buffer(self.STACK)
        top = ctypes.c_void_p((ctypes.addressof(self._stack) + self.STACK) & ~15)
        pause = ctypes.cast(LIBC.pause, ctypes.c_void_p)
        self._clone_arguments = (pause, top, CLONE_VM | signal.SIGCHLD, None)

    def start(self) -> int:
        """Start one and return its pid."""
        pid: int = LIBC.clone(*self._clone_arguments)
        return pid if pid >= 0 else check(pid, "clone")
