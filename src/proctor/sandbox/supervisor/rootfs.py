"""The file system of a box of the kernel tier: what of the host is shown, and where.

No file of Proctor or of the user is shown. Folders in which packages are installed are covered by
empty ones; a chosen package is shown alone, under /packages.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.errors import SandboxError
from proctor.sandbox.supervisor.box_contents import BoxContents, Interpreter
from proctor.sandbox.supervisor.bundle import boot_command
from proctor.sandbox.supervisor.environment import ENVIRONMENT

NOBODY = 65534
FILES = {
    "/etc/passwd": "root:x:0:0::/:/bin/sh\ncandidate:x:1000:1000::/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\ncandidate:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
SYSTEM = ("/usr/bin", "/usr/lib32", "/usr/lib64", "/usr/lib/locale", "/usr/share/zoneinfo")
TOP = ("bin", "lib", "lib32", "lib64")


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
