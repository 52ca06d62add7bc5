"""A guest that is a whole program: text in, text out, an exit status."""

import atexit
import builtins
import marshal
import os
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

MAIN = "main.py"


def run_program(seal: Callable[[], None], stages: int, order: dict[str, Any], blob: bytes) -> None:
    """Run main.py of the scratch folder as `python main.py` would, and leave as it would.

    The blob is its source, and behind that its code if it was compiled before.
    """
    size = order["code_bytes"]
    source, code = blob[: len(blob) - size], blob[len(blob) - size :]
    with open(MAIN, "wb") as file:
        file.write(source)
    seal()
    try:
        # the code is what this very source was compiled to, and here it may do no more than run
        compiled = marshal.loads(code) if code else compile(source, MAIN, "exec", 0, True)  # noqa: S302
    except BaseException as error:
        _show(error, None)
        _leave(1)
    os.write(stages, b"C")
    os.close(stages)
    if order["role"] == "compile":
        sys.stdout.buffer.write(marshal.dumps(compiled))
        _leave(0)
    sys.argv = [MAIN, *order["args"]]
    sys.path.insert(0, os.getcwd())
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
        _show(error, error.__traceback__.tb_next if error.__traceback__ else None)
        return 1
    return 0


def _show(error: BaseException, trace: Any) -> None:
    import traceback  # noqa: PLC0415  most programs never need it

    traceback.print_exception(type(error), error, trace)


def _leave(status: int) -> NoReturn:
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
