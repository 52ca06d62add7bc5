"""The first thing that a guest of the wasm tier does: find its modules, then play its role.

There is no keeper to fork it from: every guest is a Python of its own, to which all of this is
given as bytes. Until `R` is written to the stages, what goes wrong is ours.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

SCRATCH = "/tmp"


def begin(
    modules: Sequence[tuple[str, bytes]],
    role: str,
    blob: bytes,
    fds: tuple[int, int],
) -> None:
    """Play a role, to which all may be said beforehand; `fds` are the border and the stages."""
    border, stages = fds
    if role == "bundle":
        _bundle(marshal.loads(blob), border, stages)  # noqa: S302  our own files
    try:
        _unpack(modules)
        os.chdir(SCRATCH)
        import site  # noqa: PLC0415  what an interpreter that starts without it lacks

        site.setquit()
        site.sethelper()
        site.setcopyright()
    except BaseException as error:
        os.write(stages, f"F{type(error).__name__}: {error}".encode())
        os._exit(120)
    if role in ("program", "compile"):
        _run(role, blob, stages)
    from inside.protocol.frames import Channel, ScriptedChannel  # type: ignore[import-not-found]  # noqa: PLC0415
    from inside.roles.registry import find_role, run_role  # type: ignore[import-not-found]  # noqa: PLC0415

    os.write(stages, b"R")
    os.close(stages)
    run_role(find_role(role), ScriptedChannel(blob, border) if blob else Channel(border))


def _run(role: str, packed_program: bytes, stages: int) -> None:
    """Run a program, which does not return."""
    from inside.roles.program import run_program, unpack_program  # type: ignore[import-not-found]  # noqa: PLC0415

    source, code, args, _ = map(bytes, unpack_program(memoryview(packed_program)))
    args_list = []
    if args:
        import json  # noqa: PLC0415  most programs have no arguments

        args_list = json.loads(args)
    order = {"role": role, "args": args_list}
    run_program(lambda: os.write(stages, b"R"), stages, order, source, code)


def _bundle(sources: Sequence[tuple[str, str]], border: int, stages: int) -> NoReturn:
    """Say what modules are when this very Python has compiled them, as text."""
    _check_stack()
    lines = [
        f"{name} {marshal.dumps(compile(source, f'<inside {name}>', 'exec', 0, True)).hex()}\n"
        for name, source in sources
    ]
    left = memoryview("".join(lines).encode())
    while left:
        left = left[os.write(border, left) :]
    os.write(stages, b"R")
    os._exit(0)


class _EndlessAddition:
    def __add__(self, other: int) -> "_EndlessAddition":
        return self + other


def _check_stack() -> None:
    """Fail if C code that nests as deep as it may writes over what was allocated.

    The stack was moved to where no allocator of this Python should look for memory.
    """
    blocks = [bytes((n % 251,)) * 4096 for n in range(6000)]
    try:
        _EndlessAddition() + 1
    except RecursionError:
        pass
    if any(block != bytes((n % 251,)) * 4096 for n, block in enumerate(blocks)):
        raise MemoryError("its stack and its heap overlap")


def _unpack(modules: Sequence[tuple[str, bytes]]) -> None:
    """Make modules of a package `inside`, each behind those that it imports."""
    module_type = type(sys)
    package = sys.modules["inside"] = module_type("inside")
    package.__path__ = []
    for name, code in modules:
        folder, leaf = name.split(".")
        if not hasattr(package, folder):
            parent = sys.modules[f"inside.{folder}"] = module_type(f"inside.{folder}")
            parent.__path__ = []
            setattr(package, folder, parent)
        module = sys.modules[f"inside.{name}"] = module_type(f"inside.{name}")
        module.__package__ = f"inside.{folder}"
        setattr(getattr(package, folder), leaf, module)
        exec(marshal.loads(code), module.__dict__)  # noqa: S302  compiled by this Python before
