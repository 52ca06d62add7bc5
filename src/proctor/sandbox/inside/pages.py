"""Memory that makes forks cheap: libraries in fewer mappings, the interpreter in huge pages.

A fork copies what its parent has written, page by page. What is only read from a file the child
asks the kernel for anew, and gives it back when it ends. Code in huge pages of our own is copied by
one entry for each, and asked for by nobody. And a library lies in five mappings, which differ in
rights that protect nobody where all of the process is one guest's: two do as well.
"""

from __future__ import annotations

import ctypes
import mmap

from .linux import LIBC

SMALL, HUGE = 1 << 12, 1 << 21
MADV_HUGEPAGE = 14
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2
READ_RUN, READ_WRITE = mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ | mmap.PROT_WRITE

_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
LIBC.madvise.argtypes = LIBC.mprotect.argtypes = (_POINTER, _SIZE, _INT)
LIBC.munmap.argtypes = (_POINTER, _SIZE)
LIBC.mmap.argtypes = (_POINTER, _SIZE, _INT, _INT, _INT, ctypes.c_long)
LIBC.mremap.argtypes = (_POINTER, _SIZE, _SIZE, _INT, _POINTER)
LIBC.mmap.restype = LIBC.mremap.restype = _POINTER
FAILED = ctypes.c_void_p(-1).value


class Mapping:
    """Some memory of this process, and what it is a part of."""

    def __init__(self, first: int, end: int, rights: str, path: str) -> None:
        self.first = first
        self.end = end
        self.rights = rights
        self.path = path


def prepare_forks() -> None:
    """Arrange our memory so that a fork costs little; where that cannot be, it costs more."""
    try:
        _join(mappings())
        _enlarge(mappings())
    except OSError:
        pass  # nobody tells us what our memory is


def mappings() -> list[Mapping]:
    """Return all memory of this process."""
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            where, rights, _, _, _, *path = line.split(maxsplit=5)
            first, end = (int(side, 16) for side in where.split("-"))
            found.append(Mapping(first, end, rights, path[0].rstrip("\n") if path else ""))
    return found


def _join(mappings: list[Mapping]) -> None:
    """Have what may only be read of a library be a part of its code or of its data."""
    rights = {(one.path, one.first): one.rights for one in mappings}
    code = {one.path for one in mappings if one.rights == "r-xp"}
    for one in mappings:
        if one.rights == "r--p" and one.path in code and one.path.startswith("/"):
            data = rights.get((one.path, one.end)) == "rw-p"
            LIBC.mprotect(one.first, one.end - one.first, READ_WRITE if data else READ_RUN)


def _enlarge(mappings: list[Mapping]) -> None:
    """Put the interpreter's code into huge pages, if the system has any to give."""
    known = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0
    code = next(one for one in mappings if one.first <= known < one.end)
    first, end = _upwards(code.first), code.end // HUGE * HUGE
    if mmap.PAGESIZE != SMALL or first >= end:
        return
    size = end - first
    copy = _aligned(size)
    if copy is None:
        return
    ctypes.memmove(copy, first, size)
    huge = _is_huge(copy, size) and LIBC.mprotect(copy, size, READ_RUN) == 0
    if not huge or LIBC.mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, first) == FAILED:
        LIBC.munmap(copy, size)


def _aligned(size: int) -> int | None:
    """Return new memory that may be made of huge pages, None if there is none."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    room = LIBC.mmap(None, size + HUGE, READ_WRITE, flags, -1, 0)
    if room == FAILED:
        return None
    copy = _upwards(room)
    LIBC.munmap(copy + size, HUGE - (copy - room))
    if copy > room:
        LIBC.munmap(room, copy - room)
    LIBC.madvise(copy, size, MADV_HUGEPAGE)
    return copy


def _is_huge(first: int, size: int) -> bool:
    """Say whether all of a mapping lies in huge pages."""
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if line.startswith(f"{first:x}-"):
                break
        told = next((line for line in file if line.startswith("AnonHugePages:")), "")
    return told.split()[1:2] == [str(size >> 10)]


def _upwards(address: int) -> int:
    return -(-address // HUGE) * HUGE
