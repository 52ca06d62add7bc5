"""What a forked child does to become a guest: descriptors, limits, then its role.

Until the stage pipe says `R`, everything that goes wrong is ours; the pipe is closed before
candidate code runs, so nothing a candidate does can look like a failed set-up.
"""

import atexit
import builtins
import fcntl
import marshal
import os
import resource
import signal
import site
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

from .candidate import Candidate
from .examiner import examine
from .frames import Script, Wire
from .nest import Nest
from .together import examine_together

STDERR, BORDER = 2, 3
MAIN = "main.py"


def become(nest: Nest, order: dict[str, Any], blob: bytes, fds: list[int], stages: int) -> None:
    """Turn this process into a guest and run its role; fds are those of the order."""
    stages = _prepare(nest, order["limits"], [*fds, stages])
    role = order["role"]
    if role in ("program", "compile"):
        run_program(nest, stages, order, blob)
    nest.seal()
    os.write(stages, b"R")
    os.close(stages)
    _play(ROLES[role], Wire(BORDER))


def converse(nest: Nest, order: dict[str, Any], requests: bytes, pipes: list[int]) -> None:
    """Turn this process into a candidate that answers requests which are all known."""
    answers, stdout, stderr = pipes
    stdin = os.open(os.devnull, os.O_RDONLY)
    _prepare(nest, order["limits"], [stdin, stdout, stderr, answers])
    nest.seal()
    os.write(BORDER, b"R")
    _play(ROLES["candidate"], Script(requests, BORDER))


def _prepare(nest: Nest, limits: dict[str, Any], fds: list[int]) -> int:
    """Set everything up but the last walls; the last of the descriptors hears what goes wrong."""
    status = fds[-1]
    try:
        os.setsid()
        status = _arrange_descriptors(fds)
        nest.enter(limits)
        _reset_signals()
        _limit(limits)
        _refill_builtins()
    except BaseException as error:
        os.write(status, f"F{type(error).__name__}: {error}".encode())
        os._exit(120)
    return status


def _play(role: Callable[[Any], None], wire: Any) -> None:
    try:
        role(wire)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


ROLES: dict[str, Callable[[Any], None]] = {
    "candidate": lambda wire: Candidate(wire).serve(),
    "examiner": examine,
    "together": examine_together,
}


def _arrange_descriptors(wanted: list[int]) -> int:
    """Leave these descriptors, numbered from 0, and nothing else; return the last one."""
    spare = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in wanted]
    for index, fd in enumerate(spare):
        os.dup2(fd, index, inheritable=index <= STDERR)
    os.closerange(len(wanted), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return len(wanted) - 1


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _limit(limits: dict[str, Any]) -> None:
    # The clock outside ends it long before; this one holds if there is no outside any more.
    seconds = int(10 * limits["cpu_seconds"]) + 120
    for name, soft in (
        ("RLIMIT_AS", limits["memory_bytes"]),
        ("RLIMIT_STACK", limits["memory_bytes"]),
        ("RLIMIT_FSIZE", limits["file_bytes"]),
        ("RLIMIT_NOFILE", limits["open_files"]),
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_CORE", 0),
    ):
        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        value = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(which, (value, value))


def _refill_builtins() -> None:
    """Give back `exit`, `quit` and `help`, which the interpreter's start without site left out."""
    site.setquit()
    site.sethelper()
    site.setcopyright()


def run_program(nest: Nest, stages: int, order: dict[str, Any], blob: bytes) -> None:
    """Run main.py of the scratch folder as `python main.py` would, and leave as it would.

    The blob is its source, and behind that its code if it was compiled before.
    """
    size = order["code_bytes"]
    source, code = blob[: len(blob) - size], blob[len(blob) - size :]
    with open(MAIN, "wb") as file:
        file.write(source)
    nest.seal()
    os.write(stages, b"R")
    try:
        # the code is what this very source was compiled to, and here it may do no more than run
        compiled = marshal.loads(code) if code else compile(source, MAIN, "exec", 0, True)  # noqa: S302
    except BaseException as error:
        traceback.print_exception(type(error), error, None)
        _leave(1)
    os.write(stages, b"C")
    os.close(stages)
    if order["role"] == "compile":
        sys.stdout.buffer.write(marshal.dumps(compiled))
        _leave(0)
    sys.argv = [MAIN, *order["args"]]
    sys.path.insert(0, "")
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=MAIN, __builtins__=builtins)
    sys.modules["__main__"] = main
    _leave(_run_main(compiled, main.__dict__))


def _run_main(code: Any, names: dict[str, Any]) -> int:
    """Run a program and return its exit status."""
    try:
        exec(code, names)
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return (exit_.code or 0) & 255
        print(exit_.code, file=sys.stderr)  # noqa: T201  as Python does
        return 1
    except BaseException as error:
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, trace)
        return 1
    return 0


def _leave(status: int) -> NoReturn:
    """End as Python ends, but without taking the interpreter apart, which takes longest."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        status = status or 120
    try:
        sys.stderr.flush()
    except BaseException:
        pass  # there is nobody left to tell
    os._exit(status)
