"""Arrange the memory of a keeper so that forking guests from it costs little."""

import ctypes
import mmap
import os
import select
import struct
from collections.abc import Sequence

from ..isolation import libc
from ..isolation.environment import GuestEnvironment, GuestProcess
from ..isolation.libc import LIBC
from .guest_setup import READY, GuestSetup

PAGES, PINS = "pages", "pins"

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

SAMPLE_GUEST_LIMITS = {
    "cpu_seconds": 10.0,
    "memory_bytes": 1 << 30,
    "file_bytes": 1 << 20,
    "open_files": 64,
    "processes": 1,
    "scratch_bytes": 1 << 20,
}
SAMPLE_GUEST_MILLISECONDS = 5000
ENTRY, BUFFER = struct.Struct("Q"), struct.Struct("QQ")
PRESENT, OF_A_FILE, OF_ONE_PROCESS = 1 << 63, 1 << 61, 1 << 56


def tune_for_fork(environment: GuestEnvironment, parts: Sequence[str], ring: int | None) -> None:
    """Make forks of this process cheaper, in two independent ways.

    `pages`: A fork copies a page table entry for each page that its parent has written, and the
    child has a page fault for each page of a file that it only reads. Code that has been copied
    into huge pages takes one entry for 2 MiB and no page fault. And each library has five mappings
    with different rights, which protect nothing in a process that is one guest's: two are enough.

    `pins`: After a fork, the first write to a shared page stops the writer, parent or child, while
    the kernel copies the page. But the kernel copies a page during the fork if a device may be
    writing to it, and then stops neither. So the pages that guests are sure to write to are
    registered as buffers of an io_uring, which is never used and which guests do not inherit. To
    find these pages, a sample guest without a candidate does what every guest does; they are the
    pages that it has copies of afterwards. A ring that root has made (`ring`) does not count
    against the memory that an ordinary user may lock; without one, this process makes its own.

    A fork and its page faults are most of what a short candidate costs. In three rounds of `python
    benchmarks/peers.py --tuning`, HumanEval was judged 1.1, 1.0 and 1.4 times as fast with both
    parts as with neither. The setting `tune_fork` (`off`, `pages`, `pins` or `all`) switches them
    off. Where the system does not allow a part, forks work without it.
    """
    try:
        if PAGES in parts:
            _merge_library_mappings(_mappings())
            _move_code_into_huge_pages(_mappings())
    except OSError:
        pass
    try:
        if PINS in parts:
            _pin_what_guests_write_to(environment, ring)
    except OSError:
        pass


class _Mapping:
    """A mapping of this process."""

    def __init__(self, first: int, end: int, rights: str, path: str) -> None:
        self.first = first
        self.end = end
        self.rights = rights
        self.path = path


def _mappings() -> list[_Mapping]:
    mappings = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            where, rights, _, _, _, *path = line.split(maxsplit=5)
            first, end = (int(side, 16) for side in where.split("-"))
            mappings.append(_Mapping(first, end, rights, path[0].rstrip("\n") if path else ""))
    return mappings


def _merge_library_mappings(mappings: list[_Mapping]) -> None:
    """Give read-only parts of a library the rights of the code or data next to them."""
    rights = {(one.path, one.first): one.rights for one in mappings}
    code = {one.path for one in mappings if one.rights == "r-xp"}
    for one in mappings:
        if one.rights == "r--p" and one.path in code and one.path.startswith("/"):
            data = rights.get((one.path, one.end)) == "rw-p"
            LIBC.mprotect(one.first, one.end - one.first, READ_WRITE if data else READ_RUN)


def _move_code_into_huge_pages(mappings: list[_Mapping]) -> None:
    """Replace the interpreter's code by a copy in huge pages, if the system has enough of them."""
    code_address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0
    code = next(one for one in mappings if one.first <= code_address < one.end)
    first, end = _round_up(code.first), code.end // HUGE * HUGE
    if mmap.PAGESIZE != SMALL or first >= end:
        return
    size = end - first
    copy = _allocate_aligned(size)
    if copy is None:
        return
    ctypes.memmove(copy, first, size)
    huge = _is_huge(copy, size) and LIBC.mprotect(copy, size, READ_RUN) == 0
    if not huge or LIBC.mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, first) == FAILED:
        LIBC.munmap(copy, size)


def _allocate_aligned(size: int) -> int | None:
    """Return the address of new memory that may use huge pages; None if there is not enough."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    area = LIBC.mmap(None, size + HUGE, READ_WRITE, flags, -1, 0)
    if area == FAILED:
        return None
    copy = _round_up(area)
    LIBC.munmap(copy + size, HUGE - (copy - area))
    if copy > area:
        LIBC.munmap(area, copy - area)
    LIBC.madvise(copy, size, MADV_HUGEPAGE)
    return copy


def _is_huge(first: int, size: int) -> bool:
    """Return True if all of a mapping lies in huge pages."""
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if line.startswith(f"{first:x}-"):
                break
        huge_line = next((line for line in file if line.startswith("AnonHugePages:")), "")
    return huge_line.split()[1:2] == [str(size >> 10)]


def _round_up(address: int) -> int:
    return -(-address // HUGE) * HUGE


def _pin_what_guests_write_to(environment: GuestEnvironment, ring: int | None) -> None:
    """Fork a sample guest, and pin the pages that it has copies of."""
    reading, writing = os.pipe()
    try:
        set_up = GuestSetup(environment, SAMPLE_GUEST_LIMITS, (0, writing, writing, writing))
        guest = GuestProcess(environment, environment.fork())
        if guest.pid == 0:
            set_up.run_sample_guest()
        try:
            if _is_ready(reading, guest):
                _pin(_copied_pages(guest.pid), ring)
        finally:
            environment.kill()
            while guest.reap(wait=True) is None:
                pass
    finally:
        os.close(reading)
        os.close(writing)


def _is_ready(reading: int, guest: GuestProcess) -> bool:
    """Return True when the sample guest is done, False if it dies or hangs."""
    poll = select.poll()
    for fd in (reading, guest.exit_fd):
        poll.register(fd, select.POLLIN)
    message = b""
    while len(message) < len(READY):
        if reading not in [fd for fd, _ in poll.poll(SAMPLE_GUEST_MILLISECONDS)]:
            return False
        message += os.read(reading, len(READY))
    return message == READY


def _copied_pages(child: int) -> list[tuple[int, int]]:
    """Return ranges of our pages that a child has copies of: first page, and the one after."""
    ranges: list[tuple[int, int]] = []
    file = os.open(f"/proc/{child}/pagemap", os.O_RDONLY)
    try:
        for one in _mappings():  # of this process: the child has copies only of these pages
            if one.rights != "rw-p" or one.path == "[stack]":
                continue
            first, end = one.first // mmap.PAGESIZE, one.end // mmap.PAGESIZE
            entries = os.pread(file, ENTRY.size * (end - first), ENTRY.size * first)
            for page, (entry,) in enumerate(ENTRY.iter_unpack(entries), first):
                if entry & PRESENT and entry & OF_ONE_PROCESS and not entry & OF_A_FILE:
                    begin = ranges.pop()[0] if ranges and ranges[-1][1] == page else page
                    ranges.append((begin, page + 1))
    finally:
        os.close(file)
    return ranges


def _pin(ranges: list[tuple[int, int]], ring: int | None) -> None:
    """Register pages as buffers of a ring, for as long as this process lives."""
    size = mmap.PAGESIZE
    buffers = b"".join(BUFFER.pack(size * first, size * (end - first)) for first, end in ranges)
    if ring is not None:
        libc.register_buffers(ring, buffers)
        return
    new_ring = libc.io_uring()
    try:
        libc.register_buffers(new_ring, buffers)
    except OSError:
        os.close(new_ring)
        raise
