"""What is in a box of the kernel tier: an interpreter, the system's libraries, chosen packages.

Nothing of proctor's and nothing of the user's. Folders in which packages are installed are hidden
behind empty ones, wherever they lie; a chosen package is shown alone, under /packages.
"""

import marshal
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from proctor import fork_safe_fds
from proctor.errors import InputError, SandboxError, boundary
from proctor.records.limits import GIB
from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.settings import TuneFork

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
"""Files of `inside` that live in every box, each behind those that it imports."""
TOOLCHAIN_MODULES = ("roles.toolchain", "roles.command")
"""Files that live in boxes for programs of other languages, or for commands, only."""
EXAMINER_MODULES = (
    "roles.proxies",
    "roles.examiner",
    "roles.checker",
    "roles.unit_tests",
    "roles.same_process",
)
"""Files that live in boxes with test code only."""
NOTEBOOK_MODULES = ("roles.notebook",)
"""Files that live in boxes of notebooks only."""

PRELOADED = (
    *("bisect", "collections", "copy", "functools", "heapq", "itertools", "json", "math"),
    *("operator", "re", "string", "typing"),
)
"""Modules that many candidates import; each one makes every fork a little slower."""

SLOW = {
    "numpy": ("numpy",),
    "pandas": ("pandas",),
    "matplotlib": ("matplotlib.pyplot",),
    "scipy": ("scipy.stats",),
    "scikit-learn": ("sklearn.linear_model", "sklearn.cluster"),
    "seaborn": ("seaborn",),
    "requests": ("requests",),
}
"""Packages and those modules of theirs that take longer to load than all of a usual test."""

READ = """
import marshal, os, signal, sys, types
signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whatever our starter heard
with os.fdopen(int(sys.argv[2]), "rb") as file:
    bundle = file.read()
"""
COMPILE = """
reading, writing = os.pipe()
if os.fork() == 0:  # what compiling leaves behind in memory goes with it
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
"""What an interpreter does besides whose code is not that of ours."""
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
    except Exception:  # who needs it will hear why; half of it is worse than nothing
        for half in set(sys.modules) - loaded:
            del sys.modules[half]
from inside.keeper.guest_setup import reset_signals, warm_up_roles
from inside.keeper.keeper import keep
from inside.keeper.tune_for_fork import tune_for_fork
reset_signals()
warm_up_roles()
control, ring, parts = int(sys.argv[1]), None, bundle["tune_fork"]
if len(sys.argv) > 3:  # root, who built the box, has made one
    ring = int(sys.argv[3])
    os.set_inheritable(ring, False)
name, arguments = bundle["environment"]
environment = getattr(module, name)(**arguments)
del bundle, file, code, folder, leaf, module, package, name, arguments, loaded, sys.argv[1:]
keep(control, environment, lambda: tune_for_fork(environment, parts, ring))
"""

OLD_FORMAT = 2
"""Of marshal: all Pythons read it."""
NOBODY = 65534
SESSION_BYTES = GIB
FILES = {
    "/etc/passwd": "root:x:0:0::/:/bin/sh\ncandidate:x:1000:1000::/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\ncandidate:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
SYSTEM = ("/usr/bin", "/usr/lib32", "/usr/lib64", "/usr/lib/locale", "/usr/share/zoneinfo")
TOP = ("bin", "lib", "lib32", "lib64")


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """What an interpreter says of itself."""

    executable: str
    version: str
    prefix: str
    stdlib: str
    sites: Sequence[str]
    """Where its packages are installed."""


ASK = """
import json, os, sys, sysconfig
print(json.dumps({"executable": os.path.realpath(sys.executable), "version": sys.version,
                  "prefix": sys.base_prefix, "stdlib": sysconfig.get_path("stdlib"),
                  "sites": sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})}))
"""


@lru_cache(maxsize=16)
def inspect_interpreter(python: str) -> Interpreter:
    """Ask an interpreter about itself."""
    refusal = f"{python} is not a Python that can run candidates"
    command = [python, "-I", "-c", ASK]
    try:
        with boundary(InputError, refusal), fork_safe_fds.no_forks():
            answer = subprocess.run(command, capture_output=True, check=True, timeout=60)
        return msgspec.json.decode(answer.stdout, type=Interpreter)
    except subprocess.CalledProcessError as error:
        raise InputError(f"{refusal}: it ended with status {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{refusal}: it does not answer") from None
    except msgspec.DecodeError:
        raise InputError(f"{refusal}: it does not say what it is") from None


class BoxContents(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a box."""

    interpreter: Interpreter
    packages: Sequence[tuple[str, str]] = ()
    """Name in /packages, and where it lies."""
    preload: Sequence[str] = PRELOADED
    loopback: bool = False
    """Whether guests may use a network that ends in the box."""
    examiner: bool = False
    """Whether test code runs in it."""
    shown: Sequence[str] | None = None
    """What of the host programs of another language need; None: it is a box for Python."""
    notebook: bool = False
    """Whether its guest runs cells."""
    shared_bytes: int = 0
    """How much a scratch folder holds that guests share, as in a session; 0: each has its own."""
    links: Mapping[str, str] = {}
    """Links besides those of the host: path from the top, and where it leads."""
    tune_fork: TuneFork = "all"
    """Which parts of `inside/keeper/tune_for_fork.py` are used, where the tier has them."""


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
    """Return what the keeper needs to come to life, as it is sent into the box.

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
    """Say whether an interpreter has the same compiled code as this one."""
    return interpreter.version == sys.version


def _source(name: str) -> str:
    return (INSIDE / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _code(name: str) -> CodeType:
    """Return a file of `inside` compiled, once for all boxes."""
    return compile(_source(name), f"<inside {name}>", "exec", optimize=2)


def boot_command(contents: BoxContents, fds: Sequence[int]) -> list[str]:
    """Return the command that starts a keeper: its descriptors are a control and a bundle."""
    interpreter = contents.interpreter
    first = READ if reads_our_code(interpreter) else READ + COMPILE
    return [interpreter.executable, "-s", "-S", "-B", "-c", first + BOOT, *map(str, fds)]


def box_plan(contents: BoxContents, fds: Sequence[int]) -> dict[str, Any]:
    """Say how to build a box and what to start in it."""
    binds = list(_binds(contents.interpreter))
    binds += [(path, path) for path in contents.shown or () if not _covered(path, binds)]
    sources = [source for source, _ in binds]
    packages = [(source, f"/packages/{name}") for name, source in contents.packages]
    return {
        "binds": [*binds, *packages],
        "masks": sorted({mask for source in sources for mask in package_folders(source)}),
        "files": FILES,
        "links": {**_links(), **contents.links},
        "loopback": contents.loopback,
        "user": NOBODY,
        "argv": boot_command(contents, fds),
        "environment": {**ENVIRONMENT, "HOME": "/tmp", "TMPDIR": "/tmp"},  # noqa: S108
        "root": _root(sources),
    }


def _covered(path: str, binds: Sequence[tuple[str, str]]) -> bool:
    """Say whether a path is in sight anyway."""
    return any(Path(path).is_relative_to(source) for source, _ in binds)


def _links() -> dict[str, str]:
    """Return the links at the top of the file system, where /bin is part of /usr."""
    tops = {name: Path(f"/{name}") for name in TOP}
    return {name: str(path.readlink()) for name, path in tops.items() if path.is_symlink()}


def _binds(interpreter: Interpreter) -> Iterator[tuple[str, str]]:
    """Yield what of the host is shown, and where."""
    tops = [f"/{name}" for name in TOP if not Path(f"/{name}").is_symlink()]
    for path in (str(library_folder()), *SYSTEM, *tops, "/etc/ld.so.cache"):
        if Path(path).exists():
            yield path, path
    prefix = Path(interpreter.prefix)
    if prefix == Path("/usr"):
        yield interpreter.stdlib, interpreter.stdlib
        return
    yield interpreter.executable, interpreter.executable
    if prefix == Path("/usr/local"):  # a place where many things are kept
        yield interpreter.stdlib, interpreter.stdlib
        yield from ((str(lib), str(lib)) for lib in prefix.glob("lib/libpython*.so*"))
        return
    yield str(prefix / "lib"), str(prefix / "lib")


def library_folder() -> Path:
    """Return the folder with the system's libraries."""
    apart = Path(f"/usr/lib/{platform.machine()}-linux-gnu")  # so on Debian
    return apart if apart.is_dir() else Path("/usr/lib")


def package_folders(source: str) -> Iterator[str]:
    """Yield folders below one in which packages of some Python are installed."""
    for place in (source, *_pythons(source), *_pythons(f"{source}/lib")):
        for name in ("site-packages", "dist-packages"):
            if os.path.isdir(path := f"{place}/{name}"):  # noqa: PTH112  thousands of names
                yield path


def _pythons(folder: str) -> list[str]:
    """Return what may be the library of some Python, in a folder if it is one."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if name.startswith("python")]


def _root(sources: Sequence[str]) -> str:
    """Return a folder to build the new root on, under which nothing lies that is needed."""
    for place in ("/mnt", "/media", "/srv", "/opt", "/tmp"):  # noqa: S108
        free = not any(source.startswith(place + "/") for source in sources)
        if Path(place).is_dir() and free:
            return place
    raise SandboxError("there is no folder to build a box on; create /mnt")


def own_interpreter() -> str:
    """Return the interpreter that builds boxes."""
    return sys.executable
