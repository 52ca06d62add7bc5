"""A guest that becomes a command of the box, or that reads or writes one file of it.

What to do comes as JSON behind the order, for a command line may be longer than an order. Files are
opened here, behind the walls, as the user that commands run as: what that user may not read nobody
reads for it, and a link leads nowhere but into the box. What the system refuses is told on the
stage pipe, which no command ever holds: a letter for what was tried, and the number of the error.
"""

import errno
import json
import os
import signal
import stat
from collections.abc import Callable
from typing import Any, NoReturn

CHUNK = 1 << 20
FOLDER, ACTION = "D", "X"
"""What was refused: to go to the folder, or what was to be done there."""


def run_command(
    seal: Callable[[], None], stages: int, _order: dict[str, Any], _source: bytes, text: bytes
) -> NoReturn:
    """Do what is asked for, in the folder that is asked for."""
    request = json.loads(text)
    seal()
    failed_at = FOLDER
    try:
        os.chdir(request["folder"])
        failed_at = ACTION
        os.write(stages, b"C")
        ACTIONS[request["do"]](request)
        os._exit(0)
    except (OSError, ValueError) as error:  # ValueError: no name of a file can be like that
        number = getattr(error, "errno", None) or errno.EINVAL
        os.write(stages, f"{failed_at}{number}".encode())
    os._exit(126)


def _run(request: dict[str, Any]) -> None:
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by our interpreter, not by others
        signal.signal(ignored, signal.SIG_DFL)
    os.execvpe(request["argv"][0], request["argv"], request["environment"])


def _read(request: dict[str, Any]) -> None:
    _copy(_open(request["path"], os.O_RDONLY), 1)


def _write(request: dict[str, Any]) -> None:
    folder = os.path.dirname(request["path"])
    if folder:
        os.makedirs(folder, exist_ok=True)
    _copy(0, _open(request["path"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC))


def _open(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is not waited for."""
    file = os.open(path, flags | os.O_NONBLOCK, 0o644)
    kind = os.fstat(file).st_mode
    if not stat.S_ISREG(kind):
        raise OSError(errno.EISDIR if stat.S_ISDIR(kind) else errno.EINVAL, "it is no file")
    return file


def _copy(source: int, target: int) -> None:
    while data := memoryview(os.read(source, CHUNK)):
        while data:
            data = data[os.write(target, data) :]


ACTIONS: dict[str, Callable[[dict[str, Any]], None]] = {"run": _run, "read": _read, "write": _write}
