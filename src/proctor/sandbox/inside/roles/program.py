"""A guest that is a whole program: text in, text out, an exit status."""

import atexit
import builtins
import marshal
import os
import struct
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

MAIN = "main.py"
SIZES = struct.Struct("<III")
C_LONG_LIMIT = 1 << 63


def pack_program(source: bytes, code: bytes = b"", args: bytes = b"", stdin: bytes = b"") -> bytes:
    """Return all that is a guest's own as it is sent; `code` if it was compiled before."""
    return SIZES.pack(len(code), len(args), len(stdin)) + source + code + args + stdin


def unpack_program(packed: memoryview) -> tuple[memoryview, memoryview, memoryview, memoryview]:
    """Return source, code, arguments and standard input."""
    code, args, stdin = SIZES.unpack_from(packed)
    last = len(packed) - stdin
    middle = last - args
    first = middle - code
    return packed[SIZES.size : first], packed[first:middle], packed[middle:last], packed[last:]


def run_program(
    seal: Callable[[], None], stages: int, order: dict[str, Any], source: bytes, code: bytes
) -> None:
    """Run main.py of the scratch folder as `python main.py` would, and leave as it would."""
    compiled = compile_main(seal, source, code)
    os.write(stages, b"C")
    os.close(stages)
    if order["role"] == "compile":
        sys.stdout.buffer.write(marshal.dumps(compiled))
        _exit(0)
    run_main(compiled, main_names(order["args"]))


def compile_main(seal: Callable[[], None], source: bytes, code: bytes = b"") -> Any:
    """Return main.py, which this makes, compiled; leave as Python would if that cannot be."""
    write_main(source)
    seal()
    try:
        # the code is what this very source was compiled to, and here it may do no more than run
        return marshal.loads(code) if code else compile(source, MAIN, "exec", 0, True)  # noqa: S302
    except BaseException as error:
        failure = error
    return _exit(_print_exception(failure, None))


def write_main(source: Any, folder: int | None = None) -> None:
    """Make main.py, here or in another folder."""
    file = os.open(MAIN, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666, dir_fd=folder)
    try:
        rest = memoryview(source)
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)


def main_names(args: list[str]) -> dict[str, Any]:
    """Return the names of a fresh main module, in what is `python main.py` from now on."""
    sys.argv = [MAIN, *args]
    sys.path.insert(0, os.getcwd())
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=MAIN, __builtins__=builtins)
    sys.modules["__main__"] = main
    return main.__dict__


def run_main(code: Any, names: dict[str, Any]) -> NoReturn:
    """Run a program, and leave as it would."""
    _exit(_run_main(code, names))


def _run_main(code: Any, names: dict[str, Any]) -> int:
    """Run a program and return its exit status."""
    try:
        exec(code, names)
    except SystemExit as exit_:
        return _status(exit_)
    except BaseException as error:
        failure = error
    else:
        return 0
    return _print_exception(
        failure, failure.__traceback__.tb_next if failure.__traceback__ else None
    )


def _status(exit_: SystemExit) -> int:
    """Return with which status a program wants to end."""
    code = exit_.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255 if abs(code) < C_LONG_LIMIT else 255
    _write_stderr(code)
    return 1


def _write_stderr(message: object) -> None:
    """Say something on standard error, even if there is none; nobody hears why that fails."""
    try:
        text = f"{message}\n"
    except BaseException:
        text = "\n"
    try:
        if sys.stderr is None:
            os.write(2, text.encode("utf-8", "backslashreplace"))
        else:
            sys.stderr.write(text)
    except BaseException:
        pass


def _print_exception(error: BaseException, trace: Any) -> int:
    """Say how a program failed as Python does, which loads no module for it; return its status."""
    error = error.with_traceback(trace)
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as exit_:
        return _status(exit_)
    except BaseException as error_of_hook:
        hook_failure = error_of_hook
    else:
        return 1
    _write_stderr("Error in sys.excepthook:")
    without_our_frame = hook_failure.__traceback__ and hook_failure.__traceback__.tb_next
    sys.__excepthook__(type(hook_failure), hook_failure.with_traceback(without_our_frame), None)
    _write_stderr("\nOriginal exception was:")
    sys.__excepthook__(type(error), error, trace)
    return 1


def _exit(status: int) -> NoReturn:
    """End as Python ends, but without taking the interpreter apart, which takes longest."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        if not getattr(sys.stdout, "closed", sys.stdout is None):
            sys.stdout.flush()
    except BaseException:
        status = status or 120
    try:
        sys.stderr.flush()
    except BaseException:
        pass  # there is nobody left to tell
    os._exit(status)
