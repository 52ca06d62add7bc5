"""The system-call filter as a readable table, for x86_64 and aarch64.

What is denied answers EPERM, so that a program can go on without it. The table is a list of what
a candidate has no business with, not a list of all it may do: the namespaces around it, the lack
of capabilities and the empty network are the walls; this takes away ways to attack the kernel
itself and to keep memory that no limit counts.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

# name: (x86_64, aarch64); None where an architecture has no such call
DENIED: dict[str, tuple[int | None, int | None]] = {
    # looking into and steering other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    # namespaces and file systems
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # memory that no limit of the process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "io_setup": (206, 0),  # takes from a number that the whole host shares
    # parts of the kernel with a history
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    "vmsplice": (278, 75),
    # the machine itself
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "iopl": (172, None),
    "ioperm": (173, None),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
}

KEEPERS = frozenset(
    {"unshare", "setns", "mount", "umount2", "pivot_root", "sethostname", "memfd_create"}
)
"""Those of them that keepers make, and builders of boxes in containers."""

# for guests that live among the host's processes: what the kernel tier leaves to its namespaces
CONTAINED: dict[str, tuple[int | None, int | None]] = {
    # other processes, and other programs
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    # other users
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setgroups": (116, 159),
    "capset": (126, 91),
    # sockets, and what else processes meet at
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "shmctl": (31, 195),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "mq_unlink": (241, 181),
    # watching folders that Landlock does not let it read
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
}
# for guests whose files' owner owns other files, too: Landlock does not deny these
OWNERS: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "file_setattr": (469, 469),
}

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
CLONE, CLONE3, SOCKET, SETSID = (56, 220), (435, 435), (41, 198), (112, 157)
CLONE_FORBIDDEN = 0x7E020000 | 0x8000 | 0x80
"""Flags of clone: new namespaces, CLONE_PARENT (a child outside of the walls), time namespaces."""
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
X32 = 0x40000000

LOAD, JUMP_ALWAYS, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
AND = 0x54
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
NUMBER, ARCHITECTURE, ARGUMENT = 0, 4, 16
GROUP = 8


OWN_PID = 0x4F574E21
"""Stands in a filter for the pid of the process that will install it."""


class Condition(NamedTuple):
    """What one argument of a call may be, or may not be."""

    call: tuple[int, int]
    argument: int
    values: tuple[int, ...]
    allowed: bool
    mask: int = 0xFFFFFFFF


# Memory that no limit counts, once more: what processes share without a file stays when it is no
# longer mapped (MAP_SHARED | MAP_ANONYMOUS), large pages are counted by nobody (MAP_HUGETLB), and a
# socket would hold megabytes (SO_SNDBUF, SO_SNDBUFFORCE, SO_RCVBUF, SO_RCVBUFFORCE).
UNCOUNTED = (
    Condition((9, 222), 3, (0x21,), allowed=False, mask=0x21),  # mmap
    Condition((9, 222), 3, (0x40000,), allowed=False, mask=0x40000),
    Condition((54, 208), 2, (7, 32, 8, 33), allowed=False),  # setsockopt
)

# Guests may fork from the first process of their namespace (`repeated_runs.py`): how that is
# scheduled and limited is not theirs to say. Nor is that of groups, of which it may be one.
FIRST = (
    *(
        Condition(call, 0, (1,), allowed=False)
        for call in (
            *((142, 118), (144, 119), (203, 122), (314, 274)),  # sched_set*
            (302, 261),  # prlimit64
        )
    ),
    Condition((141, 140), 1, (1,), allowed=False),  # setpriority
    Condition((141, 140), 0, (1, 2), allowed=False),
    Condition((251, 30), 1, (1,), allowed=False),  # ioprio_set
    Condition((251, 30), 0, (2, 3), allowed=False),
    # hints that stay with a folder, of which nothing else tells: F_SET_RW_HINT, F_SET_FILE_RW_HINT
    Condition((72, 25), 1, (1036, 1038), allowed=False),  # fcntl
)

THREAD = 0x10000
CONDITIONS = (
    *UNCOUNTED,
    Condition((56, 220), 0, (THREAD,), allowed=True, mask=THREAD),  # clone
    Condition((62, 129), 0, (OWN_PID,), allowed=True),  # kill
    Condition((234, 131), 0, (OWN_PID,), allowed=True),  # tgkill
    Condition((302, 261), 0, (0, OWN_PID), allowed=True),  # prlimit64
    Condition((53, 199), 0, (AF_UNIX,), allowed=True),  # socketpair
    # one of datagrams could be connected to somebody else's socket
    Condition((53, 199), 1, (1,), allowed=True, mask=0xF),
    # signals by way of a descriptor: F_SETOWN, F_SETSIG, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP, TIOCSTI
    Condition((72, 25), 1, (8, 10, 15), allowed=False),
    Condition((16, 29), 1, (0x8901, 0x8902, 0x5412), allowed=False),
    # it dies with its keeper, and can be looked at: PR_SET_PDEATHSIG, PR_SET_DUMPABLE
    Condition((157, 167), 0, (1, 4), allowed=False),
)


def program(machine: str, *, loopback: bool = False) -> bytes:
    """Return the filter of a box, keeper and guests, as the kernel takes it.

    Guests are born with it, and take on that of guests besides: to make a filter ready takes the
    kernel longer than a mount, and this one is made ready once. Sockets are those between
    processes; `loopback` allows those of the internet, too. No other family is ever allowed: some
    of them (vsock) do not end at a network namespace.
    """
    column, _ = ARCHITECTURES[machine]
    families = (AF_UNIX, AF_INET, AF_INET6) if loopback else (AF_UNIX,)
    conditions = (*UNCOUNTED, *FIRST, Condition(SOCKET, 0, families, allowed=True))
    code = [
        *_denials(machine, {name: row for name, row in DENIED.items() if name not in KEEPERS}),
        *(step for condition in conditions for step in _steps(condition, column)),
        _step(JUMP_EQUAL, CLONE[column], no=4),
        _step(LOAD, ARGUMENT),
        _step(JUMP_BITS, CLONE_FORBIDDEN, no=1),
        _step(RETURN, ERROR | EPERM),
        _step(RETURN, ALLOW),
        _step(RETURN, ALLOW),
    ]
    return b"".join(code)


def guests_program(machine: str) -> bytes:
    """Return what guests may not besides, for processes that have the filter of their box."""
    column, _ = ARCHITECTURES[machine]
    denied = sorted(number for name in KEEPERS if (number := DENIED[name][column]) is not None)
    code = [
        _step(LOAD, NUMBER),
        # Every session has a share of the processors: a guest with many would take those of others.
        # It says that it is done, because daemons can do without it but not with an error.
        _step(JUMP_EQUAL, SETSID[column], no=1),
        _step(RETURN, ERROR | 0),
        *_refusals(denied),
        _step(RETURN, ALLOW),
    ]
    return b"".join(code)


def contained_program(machine: str, *, own_user: bool) -> bytes:
    """Return the filter for guests without namespaces: one process that knows no other.

    OWN_PID in it has to be replaced. Without a user of its own a guest may not change modes,
    owners and times of files: they might be the user's.
    """
    column, _ = ARCHITECTURES[machine]
    denied = {**DENIED, **CONTAINED, **({} if own_user else OWNERS)}
    conditions = (step for condition in CONDITIONS for step in _steps(condition, column))
    return b"".join([*_denials(machine, denied), *conditions, _step(RETURN, ALLOW)])


def _denials(machine: str, table: dict[str, tuple[int | None, int | None]]) -> list[bytes]:
    """Return steps that refuse other architectures, clone3 and all calls of a table."""
    column, token = ARCHITECTURES[machine]
    denied = sorted(number for row in table.values() if (number := row[column]) is not None)
    return [
        _step(LOAD, ARCHITECTURE),
        _step(JUMP_EQUAL, token, yes=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(JUMP_ABOVE, X32, no=1),
        _step(RETURN, ERROR | ENOSYS),
        # glibc falls back to clone, whose flags a filter can read
        _step(JUMP_EQUAL, CLONE3[column], no=1),
        _step(RETURN, ERROR | ENOSYS),
        *_refusals(denied),
    ]


def _refusals(denied: Sequence[int]) -> Iterator[bytes]:
    """Yield steps that refuse some calls, few of which are passed for any call.

    A kernel that is given a filter tries it with every call there is, for every guest anew.
    """
    groups = [denied[start : start + GROUP] for start in range(0, len(denied), GROUP)]
    refusal = len(denied) + 2 * len(groups) - 1  # the last step; all jump to it or beyond
    at = 0
    for group, after in zip_longest(groups, groups[1:]):
        if after:
            yield _step(JUMP_ABOVE, after[0], yes=len(group) + 1)
            at += 1
        for number in group:
            yield _step(JUMP_EQUAL, number, yes=refusal - at - 1)
            at += 1
        yield _step(JUMP_ALWAYS, refusal - at)
        at += 1
    yield _step(RETURN, ERROR | EPERM)


def _steps(condition: Condition, column: int) -> list[bytes]:
    """Return steps that refuse what does not meet a condition, and go on otherwise."""
    count = len(condition.values)
    found, else_ = (1, 0) if condition.allowed else (0, 1)  # how far behind the last comparison
    return [
        _step(JUMP_EQUAL, condition.call[column], no=count + 5),
        _step(LOAD, ARGUMENT + 8 * condition.argument),
        _step(AND, condition.mask),
        *(
            _step(JUMP_EQUAL, value, yes=count - n + found)
            for n, value in enumerate(condition.values)
        ),
        _step(JUMP_ALWAYS, else_),
        _step(RETURN, ERROR | EPERM),
        _step(LOAD, NUMBER),
    ]


def _step(what: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", what, yes, no, value)
