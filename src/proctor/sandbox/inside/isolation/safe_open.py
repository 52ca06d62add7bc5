"""Opens files below a folder that a guest could write to, without following its links."""

import os
import stat


def open_below(folder: str, path: str, *, write: bool) -> int:
    """Open a regular file below a folder; refuse links, `..` and pipes."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise OSError("that is not a path inside the scratch folder")
    above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            if write:
                _make_folder(part, above)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
            above = below
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if write else os.O_RDONLY
        file = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=above)
    finally:
        os.close(above)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError("that is no file")
    return file


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        pass  # if it is not a folder, the next open fails
