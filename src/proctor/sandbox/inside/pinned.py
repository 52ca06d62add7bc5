"""Pages that guests are sure to write to, copied when they are forked and not one by one.

After a fork parent and child share all pages, and whoever writes to one first is stopped while the
kernel copies it; so is the other one when it writes. But a page that a device may be writing to is
copied at once, and its owner goes on writing to it. So we have such pages registered as buffers of
an io_uring which nobody uses and guests do not have. Which pages they are a guest of our own shows:
those of which it has copies when it is done. Where the system does not allow all that, forks cost
what they cost.
"""

import mmap
import os
import select
import struct

from . import linux
from .nest import Nest, Ward
from .pages import mappings
from .roles import READY, SetUp

USUAL = {
    "cpu_seconds": 10.0,
    "memory_bytes": 1 << 30,
    "file_bytes": 1 << 20,
    "open_files": 64,
    "processes": 1,
    "scratch_bytes": 1 << 20,
}
"""Limits of a guest of our own."""
PATIENCE_MILLISECONDS = 5000
ENTRY, BUFFER = struct.Struct("Q"), struct.Struct("QQ")
PRESENT, OF_A_FILE, OF_ONE_PROCESS = 1 << 63, 1 << 61, 1 << 56


def look_ahead(nest: Nest, ring: int | None) -> None:
    """Have a guest of our own show what all of them will write to, and pin that.

    What a ring of root's pins counts for nobody; with one of our own it counts for our user.
    """
    reading, writing = os.pipe()
    set_up = SetUp(nest, USUAL, (0, writing, writing, writing))
    try:
        _play(nest, set_up, reading, ring)
    except OSError:
        pass  # then what each guest writes to is copied when it does
    finally:
        os.close(reading)
        os.close(writing)


def _play(nest: Nest, set_up: SetUp, reading: int, ring: int | None) -> None:
    ward = Ward(nest, nest.fork())
    if ward.pid == 0:
        set_up.rehearse()
    try:
        if _is_ready(reading, ward):
            pin(ward.pid, ring)
    finally:
        nest.kill()
        while ward.reap(wait=True) is None:
            pass


def _is_ready(reading: int, ward: Ward) -> bool:
    """Wait until a guest has done what it does; it may also die, or hang."""
    poll = select.poll()
    for fd in (reading, ward.death):
        poll.register(fd, select.POLLIN)
    said = b""
    while len(said) < len(READY):
        if reading not in [fd for fd, _ in poll.poll(PATIENCE_MILLISECONDS)]:
            return False
        said += os.read(reading, len(READY))
    return said == READY


def pin(child: int, ring: int | None) -> None:
    """Pin the pages of which a child has copies, as long as we live."""
    size = mmap.PAGESIZE
    buffers = b"".join(BUFFER.pack(size * a, size * (b - a)) for a, b in copied(child))
    if ring is not None:
        linux.register_buffers(ring, buffers)
        return
    own = linux.io_uring()
    try:
        linux.register_buffers(own, buffers)
    except OSError:
        os.close(own)
        raise


def copied(child: int) -> list[tuple[int, int]]:
    """Return pages of ours that a child has copies of: the first of some, the one behind them."""
    ranges: list[tuple[int, int]] = []
    file = os.open(f"/proc/{child}/pagemap", os.O_RDONLY)
    try:
        for one in mappings():  # ours: what it has besides is no copy
            if one.rights != "rw-p" or one.path == "[stack]":
                continue
            first, end = one.first // mmap.PAGESIZE, one.end // mmap.PAGESIZE
            told = os.pread(file, ENTRY.size * (end - first), ENTRY.size * first)
            for page, (entry,) in enumerate(ENTRY.iter_unpack(told), first):
                if entry & PRESENT and entry & OF_ONE_PROCESS and not entry & OF_A_FILE:
                    begun = ranges.pop()[0] if ranges and ranges[-1][1] == page else page
                    ranges.append((begun, page + 1))
    finally:
        os.close(file)
    return ranges
