"""What a compiler keeps of its work, made once on a host and shown to all compilers after that.

Go compiles the standard library with every program, unless it finds in its cache that it did. That
takes longer than a compiler may take for all of a candidate. So a program of ours is compiled once,
in the sandbox, and the cache that it leaves lies in the user's cache folder. A compiler finds links
to it in a cache of its own: what it adds goes with it, and nobody can change what others find.
"""

import hashlib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from proctor.languages.compiler import unpack_files
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution, Exited
from proctor.records.program import Program
from proctor.storage.home import home

LOG = logging.getLogger("proctor")
ENTRY = re.compile(r"[0-9a-z]{1,4}/[0-9a-zA-Z._-]{1,200}")
HIDDEN = Path("/tmp")  # noqa: S108  guests have a folder of their own there


def go_cache_folder(toolchain: Toolchain, compile_: Callable[[Program], Execution]) -> Toolchain:
    """Return a toolchain that finds what it needs compiled already, where that can be had."""
    place = _place(toolchain)
    if place is None or not (place.is_dir() or _fill(place, toolchain, compile_)):
        return toolchain
    shown = [*toolchain.shown, str(place)]
    return msgspec.structs.replace(toolchain, warm=str(place), shown=shown)


def _place(toolchain: Toolchain) -> Path | None:
    language = toolchain.language
    if not language.warm_ups:
        return None
    made_of = [toolchain.version, toolchain.commands, language.environment, language.warm_ups]
    digest = hashlib.sha256(msgspec.json.encode(made_of, order="sorted")).hexdigest()[:16]
    place = home(".cache", "proctor", "warm", f"{language.name}-{digest}")
    return None if place is None or HIDDEN in place.resolve().parents else place


def _fill(place: Path, toolchain: Toolchain, compile_: Callable[[Program], Execution]) -> bool:
    """Compile the first program that does compile, keep what its compiler kept."""
    language = toolchain.language
    LOG.warning("preparing %s, once on this machine; that may take a minute", language.title)
    for source in language.warm_ups:
        done = compile_(Program(source=source, language=language.name, tests=True))
        if done.ending == Exited(0):
            with suppress(OSError):  # without it a compiler is slow, and nothing else
                _write(place, unpack_files(done.stdout))
            break
    return place.is_dir()


def _write(place: Path, files: dict[str, bytes]) -> None:
    """Write files beside, so that they are there all at once; somebody may have been faster."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=place.parent, prefix=".part-"))
    try:
        for name, content in files.items():
            if ENTRY.fullmatch(name):
                (beside / name).parent.mkdir(exist_ok=True)
                (beside / name).write_bytes(content)
        os.chmod(beside, 0o755)  # noqa: PTH101, S103  those who look are nobody
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
