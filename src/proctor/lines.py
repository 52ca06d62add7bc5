"""Rows of JSON from files that may be wrong: JSONL or one array, plain, .gz or .zst.

Whatever is wrong with a file is one sentence that names the file, the line and the field.
Files are read as streams; one line has a bound, so that a broken file cannot eat the memory.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, TypeVar, cast

import msgspec

from proctor.errors import InputError, boundary

MAX_LINE = 64 << 20
MAX_ARRAY = 1 << 30

Row = TypeVar("Row")


class Line(NamedTuple):
    """One row's text and where it stands."""

    file: Path
    number: int
    text: bytes

    def error(self, what: str) -> InputError:
        """Return an error that says where."""
        return InputError(f"{self.file}, line {self.number}: {what}")

    def decode(self, kind: type[Row]) -> Row:
        """Parse the row as a record."""
        try:
            return msgspec.json.decode(self.text, type=kind)
        except msgspec.ValidationError as error:
            raise self.error(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self.error(f"not JSON: {error}") from None


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressing by its name."""
    with boundary(InputError, f"cannot read {path}"):
        if path.is_dir():
            raise InputError(f"cannot read {path}: it is a folder")
        if path.suffix == ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        if path.suffix == ".zst":
            return cast("IO[bytes]", _zstd_open(path))
        return path.open("rb")


def _zstd_open(path: Path) -> object:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415  only where such a file is read
    return zstd.open(path, "rb")


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the rows of a file: its lines, or the elements of one array."""
    with open_bytes(path) as file:
        try:
            first = file.read(64).lstrip()
            file.seek(0)
            if first.startswith(b"["):
                yield from _array(path, file)
                return
            number = 0
            while text := file.readline(MAX_LINE + 1):
                number += 1
                line = Line(path, number, text.removeprefix(b"\xef\xbb\xbf").strip())
                if len(text) > MAX_LINE:
                    raise line.error(f"longer than {MAX_LINE >> 20} MiB")
                if line.text:
                    yield line
        except (EOFError, OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"cannot read {path}: {error}") from None


def _array(path: Path, file: IO[bytes]) -> Iterator[Line]:
    """Yield the elements of an array, numbered from 1; the whole of it is held in memory."""
    whole = Line(path, 1, file.read(MAX_ARRAY))
    for number, element in enumerate(whole.decode(list[msgspec.Raw]), 1):
        yield Line(path, number, bytes(element))
