"""What a forked child does to become a guest: descriptors, limits, then its role.

Until the stage pipe says `R`, everything that goes wrong is ours; the pipe is closed before
candidate code runs, so nothing a candidate does can look like a failed set-up.
"""

import fcntl
import os
import resource
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from .frames import Script, Wire
from .nest import Nest
from .program import run_program

STDERR, BORDER = 2, 3
ROLES = {
    "candidate": ("candidate", "answer"),
    "examiner": ("examiner", "examine"),
    "checker": ("checker", "check"),
    "together": ("together", "examine_together"),
}
"""Role → the module and function that plays it; a box has only the modules that it needs."""
Player = Callable[[Wire], None]
REHEARSALS = 10
"""How often code must have run for the interpreter to have adapted it."""


@cache
def player(role: str) -> Player | None:
    """Return what plays a role; None if that is a program."""
    if role not in ROLES:
        return None
    module, function = ROLES[role]
    found: Player = getattr(import_module(f".{module}", __package__), function)
    return found


def rehearse() -> None:
    """Play the roles that this box has a few times, before any guest does."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for name in ("candidate", "examiner"):
        module = sys.modules.get(f"{__package__}.{name}")
        for _ in range(REHEARSALS if module is not None else 0):
            module.rehearse(nowhere)  # type: ignore[union-attr]
    os.close(nowhere)


def become(
    nest: Nest, order: dict[str, Any], play: Player | None, blob: bytes, fds: list[int]
) -> NoReturn:
    """Turn this process into a guest and run its role; the last descriptor hears of set-up."""
    stages = _prepare(nest, order["limits"], fds)
    if play is None:
        run_program(nest, stages, order, blob)
    nest.seal()
    os.write(stages, b"R")
    os.close(stages)
    _play(play, Wire(BORDER))


def converse(
    nest: Nest, order: dict[str, Any], play: Player | None, said: memoryview, pipes: list[int]
) -> NoReturn:
    """Turn this process into a guest to whom all is said beforehand."""
    answers, stdout, stderr = pipes
    _prepare(nest, order["limits"], [0, stdout, stderr, answers])
    nest.seal()
    os.write(BORDER, b"R")
    _play(play, Script(said, BORDER))


def _prepare(nest: Nest, limits: dict[str, Any], fds: list[int]) -> int:
    """Set everything up but the last walls; the last of the descriptors hears what goes wrong."""
    status = fds[-1]
    try:
        os.setsid()
        status = _arrange_descriptors(fds)
        nest.enter(limits)
        _limit(limits)
    except BaseException as error:
        os.write(status, f"F{type(error).__name__}: {error}".encode())
        os._exit(120)
    return status


def _play(play: Player | None, wire: Wire) -> NoReturn:
    try:
        assert play is not None  # noqa: S101
        play(wire)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _arrange_descriptors(wanted: list[int]) -> int:
    """Leave these descriptors, numbered from 0, and nothing else; return the last one."""
    if any(fd < len(wanted) and fd != index for index, fd in enumerate(wanted)):
        wanted = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in wanted]
    for index, fd in enumerate(wanted):
        os.dup2(fd, index, inheritable=index <= STDERR)
    os.closerange(len(wanted), MAX_DESCRIPTORS)
    return len(wanted) - 1


MAX_DESCRIPTORS = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _limit(limits: dict[str, Any]) -> None:
    # The clock outside ends it long before; this one holds if there is no outside any more.
    seconds = int(10 * limits["cpu_seconds"]) + 120
    for which, soft in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_STACK, limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = HARD[which]
        value = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(which, (value, value))


HARD = {
    which: resource.getrlimit(which)[1]
    for which in (
        *(resource.RLIMIT_AS, resource.RLIMIT_STACK, resource.RLIMIT_FSIZE),
        *(resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE),
    )
}
