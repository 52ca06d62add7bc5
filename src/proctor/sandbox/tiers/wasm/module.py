"""A WASI build of Python, compiled once for this host and kept on disk.

What is kept is machine code, and wasmtime trusts it: whoever could write to the file could have us
run anything. So it lies in a folder that is the user's alone, is readable by nobody else, and is
taken only if its digest is the one that was written down beside it.
"""

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata, util
from pathlib import Path

from proctor import fork_safe_fds
from proctor.errors import InputError, SandboxError, boundary
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.settings import environment_variable
from proctor.storage.home import home

BOOT = """
import sys
sys.path += [sys.argv.pop(1), sys.argv.pop(1)]
from worker.serve import main
main(*sys.argv[1:])
"""
STACK = Path(__file__).parent / "worker" / "enlarge_stack.py"
STACK_BYTES = 2 << 20
"""Of a guest's own calls; wasmtime allows no more."""
MAGIC = b"\0asm"
COMPILE_SECONDS = 600.0
MAX_KEPT = 4
"""How many compiled modules are kept, of other versions included."""


def runner() -> list[str]:
    """Return the command that starts a worker, up to what it has to do."""
    found = util.find_spec("wasmtime")
    if found is None or found.origin is None:
        raise SandboxError("wasmtime is missing; run pip install '.[wasm]' in Proctor's folder")
    folders = (Path(__file__).parent, Path(found.origin).parent.parent)
    return [sys.executable, "-I", "-B", "-c", BOOT, *map(str, folders), str(STACK_BYTES)]


def environment() -> Mapping[str, str]:
    """Return all that a worker's environment holds: nothing of the user's."""
    root = environment_variable("SYSTEMROOT")  # without which no Python starts on Windows
    return ENVIRONMENT if root is None else {**ENVIRONMENT, "SYSTEMROOT": root}


def library_beside(path: Path) -> str:
    """Return the folder of a standard library that lies beside a module, if there is one."""
    folder = path.parent / "lib"
    return str(folder) if any(folder.glob("python3*/os.py")) else ""


@cache
def digest_of(path: Path, changed: int) -> str:
    """Return the digest of a module, which is read once as long as it is not changed."""
    del changed
    with boundary(InputError, f"cannot read {path}"), path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(
                f"{path} is no WebAssembly module; it has to be a WASI build of Python"
            )
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()


def compiled(path: Path) -> tuple[str, Path]:
    """Return the key of a module on this host and the file with its machine code."""
    with boundary(InputError, f"cannot read {path}"):
        changed = path.stat().st_mtime_ns
    words = (
        digest_of(path, changed),
        metadata.version("wasmtime"),
        str(STACK_BYTES),
        hashlib.sha256(STACK.read_bytes()).hexdigest(),  # which changes what is compiled
        platform.machine(),
        platform.system(),
    )
    key = hashlib.sha256(" ".join(words).encode()).hexdigest()[:32]
    folder = _folder()
    file = folder / f"{key}.cwasm"
    if not _is_whole(file):
        _compile(path, file)
        _shrink(folder)
    return key, file


def _folder() -> Path:
    """Return where compiled modules are kept: a folder of the user's alone."""
    folder = home(".cache", "proctor", "wasm")
    with boundary(SandboxError, "there is no place for a compiled module"):
        if folder is None:
            return _passing()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
        except OSError:
            return _passing()
        if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
            return _passing()
        return folder


@cache
def _passing() -> Path:
    """Return a folder for as long as this process lives, for users without a cache."""
    folder = tempfile.TemporaryDirectory(prefix="proctor-wasm-")
    _kept.append(folder)
    return Path(folder.name)


_kept: list["tempfile.TemporaryDirectory[str]"] = []


def _is_whole(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        whole = file.with_suffix(".sha256").read_text() == found
        os.utime(file)
    except OSError:
        return False
    return whole


def _compile(path: Path, file: Path) -> None:
    """Compile a module in a process of its own, and put it where it is looked for."""
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        _run([*runner(), "compile", str(path), str(part)], path)
        with boundary(SandboxError, f"cannot keep {path} compiled"):
            part.chmod(0o600)
            with part.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            part.replace(file)
            note = part.with_suffix(".note")
            note.write_text(digest)
            note.replace(file.with_suffix(".sha256"))
    finally:
        part.unlink(missing_ok=True)


def _run(command: Sequence[str], path: Path) -> None:
    refusal = f"{path} cannot be compiled"
    try:
        with boundary(SandboxError, refusal), fork_safe_fds.no_forks():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(environment()),
            )
        with process:
            said = process.communicate(timeout=COMPILE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise SandboxError(f"{refusal}: it took more than {COMPILE_SECONDS:.0f} s") from None
    if process.returncode:
        last = said.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise InputError(f"{refusal}: {last[0] if last else 'no reason given'}")


def _shrink(folder: Path) -> None:
    """Keep the modules that were used last."""
    files = sorted(folder.glob("*.cwasm"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[MAX_KEPT:]:
        file.unlink(missing_ok=True)
        file.with_suffix(".sha256").unlink(missing_ok=True)
