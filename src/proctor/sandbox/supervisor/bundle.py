"""The code of a keeper and its guests, as it is sent into a box, and the command that starts it."""

import marshal
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.box_contents import BoxContents, Interpreter

INSIDE = Path(__file__).parents[1] / "inside"
MODULES = (
    "protocol.frames",
    "protocol.numpy_values",
    "protocol.values",
    "protocol.exceptions",
    "roles.import_denylist",
    "roles.candidate",
    "isolation.environment",
    "isolation.safe_open",
    "keeper.output",
    "roles.program",
    "keeper.leak_check",
    "keeper.repeated_runs",
    "roles.registry",
    "keeper.wait",
    "keeper.guest_setup",
    "keeper.keeper",
    "isolation.libc",
    "keeper.tune_for_fork",
)
"""Files of `inside` in every box, each after those that it imports."""
TOOLCHAIN_MODULES = ("roles.toolchain", "roles.command")
"""Files only in boxes for programs of other languages, or for commands."""
EXAMINER_MODULES = (
    "roles.proxies",
    "roles.examiner",
    "roles.checker",
    "roles.unit_tests",
    "roles.same_process",
)
"""Files only in boxes for test code."""
NOTEBOOK_MODULES = ("roles.notebook",)
"""Files only in boxes for notebooks."""
READ = """
import marshal, os, signal, sys, types
signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whatever our parent had set
with os.fdopen(int(sys.argv[2]), "rb") as file:
    bundle = file.read()
"""
COMPILE = """
reading, writing = os.pipe()
if os.fork() == 0:  # the memory that compiling takes is freed with it
    bundle = marshal.loads(bundle)
    for module in bundle["modules"]:
        module[1] = compile(module[1], f"<inside {module[0]}>", "exec", optimize=2)
    with os.fdopen(writing, "wb") as file:
        marshal.dump(bundle, file)
    os._exit(0)
os.close(writing)
with os.fdopen(reading, "rb") as file:
    bundle = file.read()
status = os.waitstatus_to_exitcode(os.wait()[1])
if status:
    sys.exit(f"the parts of a keeper could not be compiled: {status}")
del status, reading, writing
"""
"""What an interpreter runs, too, if it cannot load the code that this one compiled."""
BOOT = """
bundle = marshal.loads(bundle)
sys.path += bundle["path"]
package = sys.modules["inside"] = types.ModuleType("inside")
package.__path__ = []
for name, code in bundle["modules"]:
    folder, leaf = name.split(".")
    if not hasattr(package, folder):
        sys.modules[f"inside.{folder}"] = types.ModuleType(f"inside.{folder}")
        sys.modules[f"inside.{folder}"].__path__ = []
        setattr(package, folder, sys.modules[f"inside.{folder}"])
    module = sys.modules[f"inside.{name}"] = types.ModuleType(f"inside.{name}")
    module.__package__ = f"inside.{folder}"
    setattr(getattr(package, folder), leaf, module)
    exec(code, module.__dict__)
loaded = ()
for name in bundle["preload"]:
    loaded = set(sys.modules)
    try:
        __import__(name)
    except Exception:  # a candidate that imports it gets the error; drop what was loaded
        for half in set(sys.modules) - loaded:
            del sys.modules[half]
from inside.keeper.guest_setup import reset_signals, warm_up_roles
from inside.keeper.keeper import keep
from inside.keeper.tune_for_fork import tune_for_fork
reset_signals()
warm_up_roles()
control, ring, parts = int(sys.argv[1]), None, bundle["tune_fork"]
if len(sys.argv) > 3:  # created by root, which built the box
    ring = int(sys.argv[3])
    os.set_inheritable(ring, False)
name, arguments = bundle["environment"]
environment = getattr(module, name)(**arguments)
del bundle, file, code, folder, leaf, module, package, name, arguments, loaded, sys.argv[1:]
keep(control, environment, lambda: tune_for_fork(environment, parts, ring))
"""
OLD_FORMAT = 2
"""The version of the marshal format that every Python reads."""


class EnvironmentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The environment of guests: a class in the last of `modules`, and its arguments."""

    modules: Sequence[str]
    name: str
    filter_code: bytes
    arguments: Mapping[str, Any]
    tuning: Sequence[str] = ("pages",)
    """The parts of `inside/keeper/tune_for_fork.py` that work here."""


def kernel_environment(contents: BoxContents) -> EnvironmentSpec:
    """Return the environment of guests in the kernel tier."""
    machine = platform.machine()
    return EnvironmentSpec(
        modules=("isolation.namespaces",),
        name="Namespaces",
        filter_code=seccomp.guests_program(machine),
        arguments={
            "own_filter": seccomp.program(machine, loopback=contents.loopback),
            "shared_bytes": contents.shared_bytes,
        },
        tuning=("pages", "pins"),
    )


def bundle(contents: BoxContents, environment: EnvironmentSpec, path: Sequence[str]) -> bytes:
    """Return the code and settings that a keeper starts from, as they are sent into the box.

    Packages are found on `path`.
    """
    modules = [
        *MODULES,
        *(EXAMINER_MODULES if contents.examiner else ()),
        *(NOTEBOOK_MODULES if contents.notebook else ()),
        *(TOOLCHAIN_MODULES if contents.shown is not None else ()),
        *environment.modules,
    ]
    known = reads_our_code(contents.interpreter)
    return marshal.dumps(
        {
            "modules": [[name, _code(name) if known else _source(name)] for name in modules],
            "preload": list(contents.preload),
            "path": list(path) if contents.packages else [],
            "environment": [
                environment.name,
                {"filter_code": environment.filter_code, **environment.arguments},
            ],
            "tune_fork": [
                part for part in environment.tuning if contents.tune_fork in (part, "all")
            ],
        },
        marshal.version if known else OLD_FORMAT,
    )


def reads_our_code(interpreter: Interpreter) -> bool:
    """Return True if an interpreter can load the code that this one compiled."""
    return interpreter.version == sys.version


def _source(name: str) -> str:
    return (INSIDE / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _code(name: str) -> CodeType:
    """Compile a file of `inside`, once for all boxes."""
    return compile(_source(name), f"<inside {name}>", "exec", optimize=2)


def boot_command(contents: BoxContents, fds: Sequence[int]) -> list[str]:
    """Return the command that starts a keeper; `fds` are its control socket and its bundle."""
    interpreter = contents.interpreter
    first = READ if reads_our_code(interpreter) else READ + COMPILE
    return [interpreter.executable, "-s", "-S", "-B", "-c", first + BOOT, *map(str, fds)]
