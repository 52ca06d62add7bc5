"""The system-call filter as a readable table, for x86_64 and aarch64.

What is denied answers EPERM, so that a program can go on without it. The table is a list of what
a candidate has no business with, not a list of all it may do: the namespaces around it, the lack
of capabilities and the empty network are the walls; this takes away ways to attack the kernel
itself and to keep memory that no limit counts.
"""

import struct

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

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)
CLONE_FORBIDDEN = 0x7E020000 | 0x8000 | 0x80
"""Flags of clone: new namespaces, CLONE_PARENT (a child outside of the walls), time namespaces."""
AF_UNIX = 1
X32 = 0x40000000

LOAD, JUMP_ALWAYS, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
NUMBER, ARCHITECTURE, ARGUMENT = 0, 4, 16


def program(machine: str, *, network: bool = False) -> bytes:
    """Return the filter for an architecture as the kernel takes it.

    `network` allows sockets of every family; without it only those between processes.
    """
    column, token = ARCHITECTURES[machine]
    denied = sorted(number for row in DENIED.values() if (number := row[column]) is not None)
    code = [
        _step(LOAD, ARCHITECTURE),
        _step(JUMP_EQUAL, token, yes=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(JUMP_ABOVE, X32, no=1),
        _step(RETURN, ERROR | ENOSYS),
        # glibc falls back to clone, whose flags a filter can read
        _step(JUMP_EQUAL, CLONE3[column], no=1),
        _step(RETURN, ERROR | ENOSYS),
    ]
    for place, number in enumerate(denied):  # all jump to the one refusal behind them
        code.append(_step(JUMP_EQUAL, number, yes=len(denied) - place))
    code += [
        _step(JUMP_ALWAYS, 1),
        _step(RETURN, ERROR | EPERM),
        _step(JUMP_EQUAL, CLONE[column], no=4),
        _step(LOAD, ARGUMENT),
        _step(JUMP_BITS, CLONE_FORBIDDEN, no=1),
        _step(RETURN, ERROR | EPERM),
        _step(RETURN, ALLOW),
    ]
    if not network:
        code += [
            _step(JUMP_EQUAL, SOCKET[column], no=3),
            _step(LOAD, ARGUMENT),
            _step(JUMP_EQUAL, AF_UNIX, yes=1),
            _step(RETURN, ERROR | EPERM),
        ]
    return b"".join([*code, _step(RETURN, ALLOW)])


def _step(what: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", what, yes, no, value)
