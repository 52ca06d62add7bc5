"""What a forked child does to become a guest: descriptors, limits, then its role.

Until the stage pipe says `R`, everything that goes wrong is ours; the pipe is closed before
candidate code runs, so nothing a candidate does can look like a failed set-up.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from .. import roles
from ..isolation.environment import GuestEnvironment, ReusableEnvironment, Step
from ..protocol.frames import Channel, ScriptedChannel, load
from ..roles.program import run_program, unpack_program
from ..roles.registry import RoleFunction, run_role
from .repeated_runs import run_series

STDERR, BORDER = 2, 3
OURS = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFSZ")}
"""Signals that Python itself ignores."""
READY = b"R!"
"""What is said of a guest that is set up; and that one of our own is done."""
REHEARSALS = 10
"""How often code must have run for the interpreter to have adapted it."""


def hear_signals() -> None:
    """Have all signals do what they do, whatever our starter heard: guests hear the same.

    A shell's background jobs, say, begin with interrupts ignored.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals():
        if number not in OURS and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def rehearse() -> None:
    """Play the roles that this box has a few times, before any guest does."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for name in ("candidate", "examiner"):
        module = sys.modules.get(f"{roles.__name__}.{name}")
        for _ in range(REHEARSALS if module is not None else 0):
            module.rehearse(nowhere)  # type: ignore[union-attr]
    os.close(nowhere)


class GuestSetup:
    """All that a child does to become a guest, made ready before the fork."""

    def __init__(self, nest: GuestEnvironment, limits: dict[str, Any], fds: Sequence[int]) -> None:
        """Leave these descriptors, numbered from 0; the last one hears of set-up."""
        self._status = (fds[-1], len(fds) - 1)
        self._steps: Sequence[Step] = (
            (os.setsid, ()),
            *((os.dup2, (fd, index, index <= STDERR)) for index, fd in enumerate(fds)),
            (os.closerange, (len(fds), MAX_DESCRIPTORS)),
            *(_nothing(len(fds)) if fds[0] == 0 else ()),
            *nest.entering(limits, len(fds)),
            *_limiting(limits),
        )
        self._last: Sequence[Step] = (*nest.sealing(), (os.write, (len(fds) - 1, READY[:1])))

    def run_live(
        self, play: RoleFunction | None, order: dict[str, Any], said: memoryview
    ) -> NoReturn:
        """Turn this process into a guest and run its role."""
        try:
            self._go(self._steps)
            if play is None:
                self._run(order, said)
            self._go(self._last)
            os.close(self._status[1])
            run_role(play, Channel(BORDER))
        finally:
            os._exit(1)  # none of these may ever go on as if it were the keeper

    def run_scripted(
        self, play: RoleFunction | None, order: dict[str, Any], said: memoryview
    ) -> NoReturn:
        """Turn this process into a guest to whom all is said beforehand."""
        try:
            self._go(self._steps)
            if play is None:
                self._run(order, said)
            self._go(self._last)
            run_role(play, ScriptedChannel(said, BORDER))
        finally:
            os._exit(1)

    def rehearse(self) -> NoReturn:
        """Turn this process into one that does what most guests of this box do, and stays."""
        try:
            self._go(self._steps)
            self._go(self._last)
            for name in ("toolchain", "examiner", "candidate"):  # most in a box with it are that
                module = sys.modules.get(f"{roles.__name__}.{name}")
                if module is not None:
                    module.play(os.open(os.devnull, os.O_WRONLY))
                    break
            os.write(self._status[1], READY[1:])
            signal.pause()
        finally:
            os._exit(1)

    def run_prepared(self, nest: ReusableEnvironment, said: bytearray) -> NoReturn:
        """Turn this process into one from which runs of a program fork."""
        try:
            self._go(self._steps)
            source, _, args, _ = map(bytes, unpack_program(memoryview(said)))
            run_series(nest, lambda: self._go(self._last), source, load(args or b"[]"))
        finally:
            os._exit(1)

    def _run(self, order: dict[str, Any], parcel: memoryview) -> None:
        """Run a program, which does not return."""
        run = _other(order["role"]) if "exec_spec" in order else run_program
        source, code, args, _ = map(bytes, unpack_program(parcel))
        order = {**order, "args": load(args or b"[]")}
        run(lambda: self._go(self._last), self._status[1], order, source, code)

    def _go(self, steps: Sequence[Step]) -> None:
        try:
            for function, args in steps:
                function(*args)
        except BaseException as error:
            said = f"F{type(error).__name__}: {error}".encode()
            for status in self._status:  # the first is closed once the second is in its place
                try:
                    os.write(status, said)
                    break
                except OSError:
                    pass
            os._exit(120)


def _other(role: str) -> Callable[..., None]:
    """Return what runs commands, or programs of other languages; few boxes have it."""
    module, name = ("command",) * 2 if role == "command" else ("toolchain", "foreign")
    found: Callable[..., None] = getattr(import_module(f"{roles.__name__}.{module}"), f"run_{name}")
    return found


MAX_DESCRIPTORS = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _nothing(free: int) -> Iterator[Step]:
    """Yield the steps to an empty standard input: locks and flags of ours would outlive a guest."""
    yield os.open, (os.devnull, os.O_RDWR)
    yield os.dup2, (free, 0, True)
    yield os.close, (free,)


def _limiting(limits: dict[str, Any]) -> Iterator[Step]:
    # The clock outside ends it long before; this one holds if there is no outside any more.
    seconds = int(10 * limits["cpu_seconds"]) + 120
    addresses = limits.get("address_bytes", limits["memory_bytes"])
    for which, soft in (
        *(() if addresses is None else ((resource.RLIMIT_AS, addresses),)),
        (resource.RLIMIT_STACK, limits.get("stack_bytes", limits["memory_bytes"])),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        known = [size for size in (soft, HARD[which]) if size != resource.RLIM_INFINITY]
        value = min(known, default=resource.RLIM_INFINITY)
        yield resource.setrlimit, (which, (value, value))


HARD = {
    which: resource.getrlimit(which)[1]
    for which in (
        *(resource.RLIMIT_AS, resource.RLIMIT_STACK, resource.RLIMIT_FSIZE),
        *(resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE),
    )
}
