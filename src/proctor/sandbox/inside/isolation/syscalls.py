"""The system calls that Python does not have, by ctypes; each raises OSError with its name."""

import ctypes
import os
import signal
import struct
from collections.abc import Callable, Iterator, Sequence

Prepared = Iterator[tuple[Callable[..., object], tuple[object, ...]]]
Call = tuple[str, Callable[..., int], tuple[object, ...]]
"""What it does, a function of the C library, and its arguments."""

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
SCHEDULING = {"x86_64": (315, 252), "aarch64": (275, 31)}.get(os.uname().machine, (0, 0))
"""The numbers of sched_getattr and ioprio_get."""

IO_URING_SETUP, IO_URING_REGISTER = 425, 427
IO_URING_PARAMETERS_BYTES, REGISTER_BUFFERS = 120, 0

LIBC.signal.argtypes = (ctypes.c_int, ctypes.c_long)
LIBC.signal.restype = ctypes.c_long
_FORK = ctypes.PyDLL(None, use_errno=True).fork
ANY_CHILD = os.WEXITED | os.WNOHANG | os.WNOWAIT


def check(result: int, what: str) -> int:
    """Raise if a call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


class Ready:
    """System calls with all their arguments, made ready before a fork."""

    def __init__(self, *calls: Call) -> None:
        self._calls = calls

    def go(self) -> None:
        """Make them all."""
        for what, function, args in self._calls:
            if function(*args) < 0:
                check(-1, what)


def perform(*calls: Call) -> None:
    """Make system calls."""
    Ready(*calls).go()


def fork() -> int:
    """Fork behind the interpreter's back: it would tell modules that are not there."""
    pid: int = _FORK()
    return pid if pid >= 0 else check(pid, "fork")


def has_children() -> bool:
    """Say whether a child is left, without the exception that Python would make of a no."""
    return bool(LIBC.waitid(os.P_ALL, 0, None, ANY_CHILD) == 0)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    check(LIBC.unshare(flags), "unshare")


def setns(fd: int, kind: int) -> None:
    """Join a namespace."""
    check(LIBC.setns(fd, kind), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or change a mount."""
    perform(mounting(source, target, kind, flags, data))


def mounting(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> Call:
    """Return the call that mounts a file system, or changes a mount."""
    strings = [None if text is None else text.encode() for text in (source, target, kind)]
    return f"mount {target}", LIBC.mount, (*strings, ctypes.c_ulong(flags), data.encode() or None)


def kept_flags(path: str) -> int:
    """Return the flags of a mount that may not be taken away when it is changed."""
    now = os.statvfs(path).f_flag
    kept = now & (NOSUID | NODEV | NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    return kept | (RELATIME if now & os.ST_RELATIME else 0)


def unmount(target: str) -> None:
    """Take a mount away, at once or when nobody uses it any more."""
    check(LIBC.umount2(target.encode(), DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make a folder the root and put the old root into another."""
    check(LIBC.pivot_root(new.encode(), old.encode()), "pivot_root")


def prctl(option: int, value: int = 0, pointer: object = 0) -> None:
    """Change something about this process."""
    check(LIBC.prctl(option, ctypes.c_ulong(value), pointer, 0, 0), f"prctl {option}")


def drop_capabilities(but: int = 0) -> None:
    """Give up every capability for good, except for those in a set of bits."""
    perform(dropping(but))


def dropping(but: int = 0) -> Call:
    """Return the call that does so."""
    header = struct.pack("II", CAPABILITY_VERSION, 0)
    return "capset", LIBC.capset, (header, struct.pack("III", but, but, 0) + bytes(12))


def use_capabilities(used: int) -> None:
    """Have capabilities that we may have in effect, and no others."""
    header = struct.pack("II", CAPABILITY_VERSION, 0)
    now = ctypes.create_string_buffer(24)
    check(LIBC.capget(header, now), "capget")
    wanted = struct.pack("I", used) + now.raw[4:12] + bytes(4) + now.raw[16:]
    check(LIBC.capset(header, wanted), "capset")


def system_call(what: str, number: int, *args: object) -> int:
    """Make a system call that the C library has no function for."""
    return check(LIBC.syscall(number, *args, 0, 0), what)


def io_uring() -> int:
    """Return the descriptor of a ring."""
    parameters = ctypes.create_string_buffer(IO_URING_PARAMETERS_BYTES)
    return system_call("io_uring_setup", IO_URING_SETUP, 1, parameters)


def register_buffers(ring: int, buffers: bytes) -> None:
    """Have a ring pin memory: where it begins and how much, 64 bits each, one after the other."""
    count = len(buffers) // 16
    buffer = ctypes.c_char_p(buffers)
    system_call("io_uring_register", IO_URING_REGISTER, ring, REGISTER_BUFFERS, buffer, count)


def scheduling(pid: int) -> tuple[bytes, int]:
    """Return policy, priority and all else by which a process is given processors and disks."""
    attributes, priority = SCHEDULING
    found = ctypes.create_string_buffer(64)
    system_call("sched_getattr", attributes, pid, found, len(found))
    return found.raw, system_call("ioprio_get", priority, 1, pid)


def map_user(inside: int, outside_user: int, outside_group: int) -> None:
    """Say who we are in a user namespace just made, which nobody below it can add groups to."""
    free = os.dup(0)
    os.close(free)
    for function, args in (
        *writing("/proc/self/setgroups", b"deny", free),
        *mapping_user(inside, outside_user, outside_group, free, "/proc/self"),
    ):
        function(*args)


def mapping_user(
    inside: int, outside_user: int, outside_group: int, free: int, own: str
) -> Prepared:
    """Yield the calls that do so; `free` is the first free descriptor, `own` our part of /proc.

    Groups have to be fixed already, by us or by who made the namespace around ours.
    """
    yield from writing(f"{own}/uid_map", b"%d %d 1" % (inside, outside_user), free)
    yield from writing(f"{own}/gid_map", b"%d %d 1" % (inside, outside_group), free)


def writing(path: str, text: bytes, free: int) -> Prepared:
    """Yield the calls that write to a file; `free` is the first free descriptor."""
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
        """Allow this process and its children no more than the filter does."""
        perform(*self.installing)

    @property
    def installing(self) -> Sequence[Call]:
        """The calls that do so."""
        return (
            ("no new privileges", LIBC.prctl, (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
            ("seccomp", LIBC.prctl, (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._pointer, 0, 0)),
        )


class Collector:
    """Waits for children; what is told of them is written to one place, which can be wiped.

    It is a status, what one child took, and what all took that were ever waited for.
    """

    USAGE = 144
    CHILDREN = -1

    def __init__(self) -> None:
        self._report = (ctypes.c_char * (8 + 2 * self.USAGE))()
        status, one, all_ = (
            ctypes.byref(self._report, offset) for offset in (0, 8, 8 + self.USAGE)
        )
        self._places = status, one
        self._of_all = all_

    def collect(self, pid: int) -> memoryview:
        """Wait for a child, then end all others there are."""
        status, usage = self._places
        check(LIBC.wait4(pid, status, 0, usage), "wait4")
        while has_children():
            if LIBC.wait4(-1, None, os.WNOHANG, None) == 0:
                os.kill(-1, signal.SIGKILL)
                LIBC.wait4(-1, None, 0, None)
        LIBC.getrusage(self.CHILDREN, self._of_all)
        return memoryview(self._report).cast("B")


class Pauser:
    """Makes processes that do nothing but be there, in no time, by sharing our memory.

    The first process of a pid namespace is its init: when it dies all others die with it, and
    signals that would end anybody else do not reach it. A candidate in that place could not even
    kill itself. So this takes the place and waits for ever.
    """

    STACK = 8 * 1024

    def __init__(self) -> None:
        self._stack = ctypes.create_string_buffer(self.STACK)
        top = ctypes.c_void_p((ctypes.addressof(self._stack) + self.STACK) & ~15)
        pause = ctypes.cast(LIBC.pause, ctypes.c_void_p)
        self._how = (pause, top, CLONE_VM | signal.SIGCHLD, None)

    def start(self) -> int:
        """Start one and return its pid."""
        pid: int = LIBC.clone(*self._how)
        return pid if pid >= 0 else check(pid, "clone")
