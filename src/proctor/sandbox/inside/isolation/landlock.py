"""Landlock: restricts for good which files a process may access.

The ABI version of a kernel says what Landlock can deny there; 0 stands for a kernel without it.
A ruleset denies all access that it handles, except below the paths that it allows.
"""

import os
import struct

from . import libc

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
QUERY_VERSION, PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15

READ = READ_FILE | READ_DIR
SCRATCH = 0x3FFF ^ EXECUTE ^ MAKE_CHAR ^ MAKE_BLOCK | TRUNCATE
"""All rights on files except executing them and creating devices."""
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE

FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
"""ABI → the rights on files that it can deny."""
NETWORK_ABI, BIND_AND_CONNECT = 4, 3
SCOPE_ABI, SOCKETS_AND_SIGNALS = 6, 3


def abi() -> int:
    """Return the version of Landlock here; 0 if this kernel lacks it or has it disabled."""
    try:
        return libc.system_call("landlock", CREATE_RULESET, None, 0, QUERY_VERSION)
    except OSError:
        return 0


class Landlock:
    """The rules that are the same for all guests."""

    def __init__(self, version: int, rules: list[tuple[str, int]]) -> None:
        self._files = FILES.get(version, FILES[max(FILES)])
        handled = [self._files]
        if version >= NETWORK_ABI:
            handled.append(BIND_AND_CONNECT)
        if version >= SCOPE_ABI:
            handled.append(SOCKETS_AND_SIGNALS)
        self._handled = struct.pack(f"{len(handled)}Q", *handled)
        # opened now, because the processes that the rules apply to may have no access any more
        self._rules = [self._rule(path, rights) for path, rights in rules if os.path.exists(path)]

    def restrict(self, more: list[tuple[str, int]]) -> None:
        """Restrict this process to the files of these rules and `more`, for good."""
        size = len(self._handled)
        ruleset = libc.system_call("landlock", CREATE_RULESET, self._handled, size, 0)
        for rule in (*self._rules, *(self._rule(path, rights) for path, rights in more)):
            libc.system_call("landlock rule", ADD_RULE, ruleset, PATH_BENEATH, rule)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.system_call("landlock", RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)

    def _rule(self, path: str, rights: int) -> bytes:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
        return struct.pack("=Qi", rights & self._files, fd)
