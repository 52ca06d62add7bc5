"""A slot: walls that are put up once, for guest after guest, as long as none leaves a trace.

The first process of a slot comes from the keeper as any guest does, puts up all walls, and from
then on forks a fresh process for every guest, as that of a series does for every run of its program
(`series.py`). But it runs nothing of anybody's, and what a guest is told does not pass through its
memory, of which all later guests are copies: that lies in a file that only the guest itself reads.
"""

from __future__ import annotations

import os

from .frames import Script
from .gatherer import AT_ONCE
from .light import TYPE_CHECKING
from .players import perform
from .series import fork_runs, hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .nest import SerialNest
    from .players import Player

BORDER = 3
MANY = 1 << 16
"""No guest's first process has a descriptor beyond that."""


def letter(content: memoryview) -> int:
    """Return a descriptor from which that can be read once."""
    if len(content) <= AT_ONCE:
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        return reading
    file = os.memfd_create("letter")
    while content:
        content = content[os.write(file, content) :]
    os.lseek(file, 0, os.SEEK_SET)
    return file


def opened(reading: int) -> memoryview:
    """Return what is in a letter."""
    told = bytearray(os.fstat(reading).st_size or AT_ONCE)  # of a pipe nobody tells
    return memoryview(told)[: os.readv(reading, [told])]


def run_slot(nest: SerialNest, seal: Callable[[], None], play: Player | None) -> NoReturn:
    """Fork a guest whenever one is asked for."""
    seal()

    def begin(read: int, stdout: int, stderr: int, border: int) -> None:
        # its own, or locks and flags would outlive it
        hold(os.open(os.devnull, os.O_RDWR), stdout, stderr)
        os.dup2(border, BORDER, inheritable=False)  # in the place of the line
        os.write(BORDER, b"R")
        told = opened(read)
        os.closerange(BORDER + 1, MANY)
        perform(play, Script(told, BORDER))

    fork_runs(nest, begin)
