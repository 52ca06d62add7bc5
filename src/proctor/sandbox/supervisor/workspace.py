"""A box that lives, in which any command runs that it shows: for agents that work with a shell.

Every command is a guest of its own, with all walls of one. What stays from one to the next is the
scratch folder, which is /tmp and where commands start; what a command leaves running does not.
Commands run one after the other. Files are read and written by guests as well, so that whoever asks
for one is refused what a command would be refused.
"""

import errno
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.errors import SandboxError
from proctor.languages.toolchain import find_toolchain
from proctor.records.execution import Execution, Exited, OutputTooLong, SandboxFailed, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents
from proctor.sandbox.supervisor.environment import ENVIRONMENT

SHOWN = ("/etc/alternatives",)
"""What commands need of the host that single languages do not: where Debian's awk and vi lie."""
PYTHONS = ("/usr/local/bin/python3", "/usr/local/bin/python")
FILE_SECONDS = 60.0
"""How long it may take to read or write a file."""
STACK = 64 * MIB
NO_LIMIT = -1
REFUSED = re.compile(r"([DX])([0-9]+)$")
NO_PROGRAM = Program(source="")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command line, where to run it, and what it is given."""

    argv: Sequence[str]
    folder: str = "."
    """Seen from the scratch folder."""
    environment: Mapping[str, str] = {}
    """Besides what every command finds in its environment."""
    stdin: bytes = b""


class Workspace:
    """One box for commands; safe for use by several threads, which take turns."""

    def __init__(self, box: Box, limits: Limits, *, packages: bool, addresses: bool) -> None:
        """Take a box whose guests share a scratch folder; `addresses`: whether these are limited.

        A runtime such as Node reserves more of them than it ever uses.
        """
        self._box = box
        self._limits = limits
        self._environment = _environment(packages=packages)
        self._more = {
            "address_bytes": limits.memory_bytes if addresses else None,
            # with no limit on the first stack those of threads are small
            "stack_bytes": NO_LIMIT if addresses else min(limits.memory_bytes, STACK),
        }
        self._lock = threading.Lock()

    def run(self, command: Command, limits: Limits) -> Execution:
        """Run a command to its end; an OSError says why it cannot be begun."""
        asked = {
            "do": "run",
            "folder": command.folder,
            "argv": list(command.argv),
            "environment": {**self._environment, **command.environment},
        }
        return self._ask(asked, limits, command.stdin, command.argv[0])

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return a file; OSError as if it were read here, EFBIG if it is over `max_bytes`."""
        execution = self._ask(_file("read", path), self._for_files(max_bytes), b"", path)
        return execution.stdout

    def write(self, path: str, content: bytes) -> None:
        """Write a file, and make the folders that lead to it."""
        self._ask(_file("write", path), self._for_files(0), content, path)

    def close(self) -> None:
        """End whatever runs, and forget all files."""
        with self._lock:
            self._box.close()

    def _for_files(self, max_bytes: int) -> Limits:
        limits = msgspec.structs.replace(self._limits, output_bytes=max_bytes)
        return limits.with_seconds(FILE_SECONDS)

    def _ask(self, asked: dict[str, Any], limits: Limits, stdin: bytes, name: str) -> Execution:
        text = json.dumps(asked).encode()
        with self._lock:
            raise_if_cancelled()
            guest = self._box.start(
                "command",
                limits,
                program=NO_PROGRAM,
                code=text,
                stdin=stdin,
                exec_spec={"limits": self._more},
            )
            guest.wait()
            execution = guest.finish()
        refused = REFUSED.search(guest.stage)
        if refused is not None:
            number = int(refused[2])
            where = asked["folder"] if refused[1] == "D" else name
            raise OSError(number, os.strerror(number), where)
        if isinstance(execution.ending, SandboxFailed):
            raise SandboxError(execution.ending.reason)
        if asked["do"] != "run":
            _check_file(execution, name)
        return execution


def furnish(contents: BoxContents, limits: Limits, languages: Sequence[str]) -> BoxContents:
    """Say what is in a box for commands: an interpreter that is on the path, and some languages."""
    shown = [path for path in SHOWN if Path(path).exists()]
    shown += [path for name in languages for path in find_toolchain(name).shown]
    executable = contents.interpreter.executable
    return msgspec.structs.replace(
        contents,
        preload=(),
        loopback=limits.loopback,
        shared_bytes=limits.scratch_bytes,
        shown=sorted(set(shown)),
        links={
            "var/tmp": "/tmp",  # noqa: S108
            **{path[1:]: executable for path in PYTHONS if path != executable},
        },
    )


def _environment(*, packages: bool) -> dict[str, str]:
    own = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("PYTHON")}
    own |= {"HOME": "/tmp", "TMPDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"}  # noqa: S108
    return {**own, "PYTHONPATH": "/packages"} if packages else own


def _file(what: str, path: str) -> dict[str, Any]:
    return {"do": what, "folder": ".", "path": path}


def _check_file(execution: Execution, path: str) -> None:
    """Raise what kept a guest from reading or writing all of a file."""
    match execution.ending:
        case OutputTooLong():
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        case TimedOut():
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), path)
    if execution.ending != Exited(0):
        raise SandboxError(f"{path}: {execution.ending}")
