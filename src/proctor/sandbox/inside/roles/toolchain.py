"""A guest that is a program of another language: a compiler, or what came out of one.

Files are written and unpacked here, behind the walls; then another program takes this one's place.
The stage pipe closes with that, so that nothing of a candidate's ever holds it. What a compiler
leaves is packed as a line of JSON, names and sizes, and the files one behind the other.

A program may have a border, which it finds at descriptor 3, and be a file that is given beside it:
it gets a copy of its own, because what it could open by a name it could change the rights of. A
compiler may find a file in the border's place that is too large to be copied for each, by a name in
its folder; nobody can write to it.
"""

import fnmatch
import json
import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

MAX_FILES = 1024
BORDER = 3


def run_toolchain(
    seal: Callable[[], None], stages: int, order: dict[str, Any], source: bytes, packed: bytes
) -> NoReturn:
    """Write the source, or unpack what was made of it, and run what the order says."""
    spec = order["exec_spec"]
    seal()
    try:
        if packed:
            _unpack(packed)
        if spec["file"]:
            _write(spec["file"], source)
        if spec["border"]:
            os.set_inheritable(BORDER, True)
            _copy(BORDER + 1, spec["extra_file"])
        elif spec["extra_file"]:
            os.set_inheritable(BORDER, True)
            os.symlink(f"/proc/self/fd/{BORDER}", spec["extra_file"])
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by our interpreter, not by others
            signal.signal(ignored, signal.SIG_DFL)
        if order["role"] == "build":
            if spec["warm"]:
                _link(spec["warm"], spec["cache"])
            _build(spec, stages)
        os.write(stages, b"C")
        os.execve(spec["argv"][0], [*spec["argv"], *order["args"]], spec["environment"])
    except BaseException as error:
        os.write(stages, f"F{type(error).__name__}: {error}".encode())
    os._exit(120)


def run_sample_guest(_null_fd: int) -> None:
    """Do what all these do, besides what all guests do: nothing, they become another program."""


def _build(spec: dict[str, Any], stages: int) -> NoReturn:
    """Run a compiler, then write what it left to standard output; end as it ended."""
    code = 0
    for argv in spec["steps"]:
        code = code or _step(argv, spec["environment"])
        if spec["extra_file"] and argv is spec["steps"][0]:
            _remove_extra_file(spec["extra_file"])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in UNTOUCHABLE else None
        os.kill(os.getpid(), -code)
    if code == 0:
        files = _product_files(spec["products"]) if spec["products"] else _cache_files(spec)
        sizes = {name: os.stat(path).st_size for name, path in files.items()}
        _write_stdout(json.dumps([*sizes.items()]).encode() + b"\n")
        for name, path in files.items():
            _send_file(path, sizes[name])
        os.write(stages, b"C")
    os._exit(code)


def _remove_extra_file(extra_file: str) -> None:
    """Have no step find what only the first one is given."""
    os.close(BORDER)
    os.unlink(extra_file)


def _step(argv: list[str], environment: dict[str, str]) -> int:
    """Run one program to its end and return its exit status, or less than nothing: a signal."""
    file_actions = ((os.POSIX_SPAWN_DUP2, 2, 1),)
    child = os.posix_spawn(argv[0], argv, environment, file_actions=file_actions)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


UNTOUCHABLE = (signal.SIGKILL, signal.SIGSTOP)


def _product_files(patterns: list[str]) -> dict[str, str]:
    """Return where the files of the scratch folder lie that are called as patterns say."""
    names = [
        name
        for name in sorted(os.listdir("."))
        if (
            name in patterns
            or any(fnmatch.fnmatchcase(name, one) for one in patterns if "*" in one)
        )
        and not os.path.islink(name)
        and os.path.isfile(name)
    ]
    return {name: name for name in names[:MAX_FILES]}


def _cache_files(spec: dict[str, Any]) -> dict[str, str]:
    """Return all files in the folders of a compiler's cache, none if it has no cache."""
    folders = os.listdir(spec["cache"]) if spec["cache"] else ()
    return {
        f"{folder}/{name}": f"{path}/{name}"
        for folder in folders
        if os.path.isdir(path := f"{spec['cache']}/{folder}")
        for name in os.listdir(path)
    }


def _write_stdout(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _send_file(path: str, size: int) -> None:
    """Send a file to standard output, without a copy of it in between."""
    file, at = os.open(path, os.O_RDONLY), 0
    while at < size:
        copied = os.sendfile(1, file, at, size - at)
        if not copied:
            raise OSError(f"{path} has become shorter")
        at += copied
    os.close(file)


def _link(warm: str, cache: str) -> None:
    """Have a compiler find what it need not compile in a cache of its own."""
    os.mkdir(cache)
    for folder in os.listdir(warm):
        os.mkdir(f"{cache}/{folder}")
        for name in os.listdir(f"{warm}/{folder}"):
            os.symlink(f"{warm}/{folder}/{name}", f"{cache}/{folder}/{name}")


def _unpack(packed: bytes) -> None:
    end = packed.index(b"\n") + 1
    at = end
    for name, size in json.loads(packed[:end]):
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError("a name that is no file's")
        if len(parts) > 1:
            os.makedirs("/".join(parts[:-1]), exist_ok=True)
        _write(name, packed[at : at + size])
        at += size


def _copy(source_fd: int, name: str) -> None:
    """Copy a file that was given to a name, and let go of it."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
    size, at = os.fstat(source_fd).st_size, 0  # its position is not ours alone
    while at < size:
        at += os.sendfile(file, source_fd, at, size - at)
    os.close(file)
    os.close(source_fd)


def _write(name: str, data: bytes) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
