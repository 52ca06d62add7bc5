"""Turns a forked child into a guest: descriptors, limits, then its role.

Until the child has written `R` to the stage pipe, every failure is the sandbox's. The pipe is
closed before candidate code runs, so a candidate cannot fake a failed set-up.
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
from .repeated_runs import run_cases

STDERR, BORDER = 2, 3
IGNORED_BY_PYTHON = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFSZ")}
"""Signals that Python itself ignores."""
READY = b"R!"
"""What a guest writes when it is set up, and what the sample guest writes when it is done."""
WARM_UP_RUNS = 10
"""How often code must run before the interpreter has specialized it."""


def reset_signals() -> None:
    """Reset all signals to their defaults, for this process and its guests.

    A background job of a shell, for example, starts with interrupts ignored.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals():
        if number not in IGNORED_BY_PYTHON and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def warm_up_roles() -> None:
    """Run the roles of this box a few times before the first guest, which then runs faster."""
    null_fd = os.open(os.devnull, os.O_WRONLY)
    for name in ("candidate", "examiner"):
        module = sys.modules.get(f"{roles.__name__}.{name}")
        for _ in range(WARM_UP_RUNS if module is not None else 0):
            module.warm_up(null_fd)  # type: ignore[union-attr]
    os.close(null_fd)


class GuestSetup:
    """The steps by which a child becomes a guest, prepared before the fork."""

    def __init__(
        self, environment: GuestEnvironment, limits: dict[str, Any], fds: Sequence[int]
    ) -> None:
        """Give the guest these descriptors, numbered from 0; the last one is the stage pipe."""
        self._status_fds = (fds[-1], len(fds) - 1)
        self._steps: Sequence[Step] = (
            (os.setsid, ()),
            *((os.dup2, (fd, index, index <= STDERR)) for index, fd in enumerate(fds)),
            (os.closerange, (len(fds), MAX_FD)),
            *(_empty_stdin_steps(len(fds)) if fds[0] == 0 else ()),
            *environment.enter_steps(limits, len(fds)),
            *_limit_steps(limits),
        )
        self._seal_steps: Sequence[Step] = (
            *environment.seal_steps(),
            (os.write, (len(fds) - 1, READY[:1])),
        )

    def run_live(
        self, role_function: RoleFunction | None, order: dict[str, Any], blob: memoryview
    ) -> NoReturn:
        """Turn this process into a guest and run its role."""
        try:
            self._run_steps(self._steps)
            if role_function is None:
                self._run_program(order, blob)
            self._run_steps(self._seal_steps)
            os.close(self._status_fds[1])
            run_role(role_function, Channel(BORDER))
        finally:
            os._exit(1)  # a child must never return into the keeper's code

    def run_scripted(
        self, role_function: RoleFunction | None, order: dict[str, Any], blob: memoryview
    ) -> NoReturn:
        """Turn this process into a guest whose requests are all in `blob`."""
        try:
            self._run_steps(self._steps)
            if role_function is None:
                self._run_program(order, blob)
            self._run_steps(self._seal_steps)
            run_role(role_function, ScriptedChannel(blob, BORDER))
        finally:
            os._exit(1)

    def run_sample_guest(self) -> NoReturn:
        """Turn this process into a guest that does what most guests of this box do, then waits."""
        try:
            self._run_steps(self._steps)
            self._run_steps(self._seal_steps)
            for name in ("toolchain", "examiner", "candidate"):  # the first is what most guests run
                module = sys.modules.get(f"{roles.__name__}.{name}")
                if module is not None:
                    module.run_sample_guest(os.open(os.devnull, os.O_WRONLY))
                    break
            os.write(self._status_fds[1], READY[1:])
            signal.pause()
        finally:
            os._exit(1)

    def run_prepared(self, environment: ReusableEnvironment, blob: bytearray) -> NoReturn:
        """Turn this process into one that forks runs of a program."""
        try:
            self._run_steps(self._steps)
            source, _, args, _ = map(bytes, unpack_program(memoryview(blob)))
            run_cases(
                environment, lambda: self._run_steps(self._seal_steps), source, load(args or b"[]")
            )
        finally:
            os._exit(1)

    def _run_program(self, order: dict[str, Any], packed_program: memoryview) -> None:
        """Run a program; does not return."""
        run = _exec_function(order["role"]) if "exec_spec" in order else run_program
        source, code, args, _ = map(bytes, unpack_program(packed_program))
        order = {**order, "args": load(args or b"[]")}
        run(lambda: self._run_steps(self._seal_steps), self._status_fds[1], order, source, code)

    def _run_steps(self, steps: Sequence[Step]) -> None:
        try:
            for function, args in steps:
                function(*args)
        except BaseException as error:
            message = f"F{type(error).__name__}: {error}".encode()
            for fd in self._status_fds:  # the first is closed once the second has replaced it
                try:
                    os.write(fd, message)
                    break
                except OSError:
                    pass
            os._exit(120)


def _exec_function(role: str) -> Callable[..., None]:
    """Return the function that runs commands, or compilers and compiled programs."""
    name = "command" if role == "command" else "toolchain"
    module = import_module(f"{roles.__name__}.{name}")  # few boxes contain it
    function: Callable[..., None] = getattr(module, f"run_{name}")
    return function


MAX_FD = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _empty_stdin_steps(free: int) -> Iterator[Step]:
    """Yield the steps that open an empty standard input.

    A descriptor shared with the keeper would keep the locks and flags that a guest sets on it.
    """
    yield os.open, (os.devnull, os.O_RDWR)
    yield os.dup2, (free, 0, True)
    yield os.close, (free,)


def _limit_steps(limits: dict[str, Any]) -> Iterator[Step]:
    # The supervisor's clock ends a guest long before; this limit holds if the supervisor is gone.
    seconds = int(10 * limits["cpu_seconds"]) + 120
    address_bytes = limits.get("address_bytes", limits["memory_bytes"])
    for limit, wanted in (
        *(() if address_bytes is None else ((resource.RLIMIT_AS, address_bytes),)),
        (resource.RLIMIT_STACK, limits.get("stack_bytes", limits["memory_bytes"])),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        bounds = [size for size in (wanted, HARD_LIMITS[limit]) if size != resource.RLIM_INFINITY]
        value = min(bounds, default=resource.RLIM_INFINITY)
        yield resource.setrlimit, (limit, (value, value))


HARD_LIMITS = {
    limit: resource.getrlimit(limit)[1]
    for limit in (
        *(resource.RLIMIT_AS, resource.RLIMIT_STACK, resource.RLIMIT_FSIZE),
        *(resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE),
    )
}
