"""Rows of JSON: those of files that may be wrong, and those that we write.

Files are JSONL or one array, plain, .gz or .zst. Whatever is wrong with one is a single sentence
that names the file, the line and the field. Files are read as streams; one line has a bound, so
that a broken file cannot eat the memory.
"""

import gzip
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

import msgspec

from proctor.errors import InputError, boundary

MAX_LINE = 64 << 20
MAX_ARRAY = 1 << 30
MAX_SHOWN = 80
CHUNK = 1 << 20
START = 4096
BOM = b"\xef\xbb\xbf"
CONSTANT = re.compile(rb"\b(?:NaN|Infinity)\b")
HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")

Row = TypeVar("Row")


class Line(NamedTuple):
    """One row's text and where it stands."""

    file: Path
    number: int
    text: bytes
    unit: str = "line"
    """What `number` counts: lines, or elements of one array."""

    def error(self, what: str) -> InputError:
        """Return an error that says where."""
        return InputError(f"{self.file}, {self.unit} {self.number}: {what}")

    def decode(self, kind: type[Row], *, constants: bool = False) -> Row:
        """Parse the row as a record; `constants` are NaN and Infinity, which JSON has not."""
        try:
            return _decode(self.text, kind, constants=constants)
        except msgspec.ValidationError as error:
            raise self.error(str(error)) from None
        except RecursionError:
            raise self.error("nested too deeply") from None
        except ValueError as error:  # msgspec's and json's errors and UnicodeDecodeError
            reason = str(error).removeprefix("JSON is malformed: ")
            raise self.error(f"not JSON: {reason}") from None


def _decode(text: bytes, kind: type[Row], *, constants: bool = False) -> Row:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if not HALF_PAIR.search(text) and not (constants and CONSTANT.search(text)):
            raise
    # Half a surrogate pair, say: Python's json writes and reads it, msgspec does not.
    return msgspec.convert(json.loads(text, parse_constant=None if constants else _refuse), kind)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")


def brief(value: Any) -> str:
    """Return a value of somebody else's as a short text for a message."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressing by its name."""
    with boundary(InputError, f"cannot read {path}"):
        if path.is_dir():
            raise InputError(f"cannot read {path}: it is a folder")
        if path.exists() and not path.is_file():
            raise InputError(f"cannot read {path}: it must be a file, which can be read twice")
        if path.suffix == ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        if path.suffix == ".zst":
            return cast("IO[bytes]", _zstd().open(path, "rb"))
        return path.open("rb")


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415  only where such a file is read
    return zstd


def _damage(path: Path) -> tuple[type[Exception], ...]:
    """Return what reading raises if the file is torn or is not what its name says."""
    errors = (EOFError, OSError, zlib.error)
    return (*errors, _zstd().ZstdError) if path.suffix == ".zst" else errors


def sha256_of(path: Path) -> str:
    """Return the digest of a file's content, decompressed."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        try:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        except _damage(path) as error:
            raise InputError(f"cannot read {path}: {error}") from None
    return digest.hexdigest()


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the rows of a file: its lines, or the elements of one array."""
    with open_bytes(path) as file:
        try:
            start = file.read(64).removeprefix(BOM).lstrip()
            file.seek(0)
            yield from _array(path, file) if start.startswith(b"[") else _rows(path, file)
        except _damage(path) as error:
            raise InputError(f"cannot read {path}: {error}") from None


def read_start(path: Path) -> bytes:
    """Return how a file begins, white space excepted."""
    with open_bytes(path) as file:
        try:
            return file.read(START).removeprefix(BOM).lstrip()
        except _damage(path) as error:
            raise InputError(f"cannot read {path}: {error}") from None


def read_whole(path: Path) -> Line:
    """Return a file that is one value of JSON; all of it is held in memory."""
    with open_bytes(path) as file:
        try:
            content = file.read(MAX_ARRAY + 1)
        except _damage(path) as error:
            raise InputError(f"cannot read {path}: {error}") from None
    if len(content) > MAX_ARRAY:
        raise InputError(f"{path}: one object of more than {MAX_ARRAY >> 30} GiB")
    return Line(path, 1, content.removeprefix(BOM))


def _rows(path: Path, file: IO[bytes]) -> Iterator[Line]:
    number = 0
    while text := file.readline(MAX_LINE + 1):
        number += 1
        line = Line(path, number, text.removeprefix(BOM).strip())
        if len(text) > MAX_LINE:
            raise line.error(f"longer than {MAX_LINE >> 20} MiB")
        if line.text:
            yield line


def _array(path: Path, file: IO[bytes]) -> Iterator[Line]:
    """Yield the elements of an array, numbered from 1; the whole of it is held in memory."""
    content = file.read(MAX_ARRAY + 1)
    if len(content) > MAX_ARRAY:
        raise InputError(
            f"{path}: one array of more than {MAX_ARRAY >> 30} GiB; write one object a line"
        )
    whole = Line(path, 1, content.removeprefix(BOM))
    if HALF_PAIR.search(content):
        texts = (json.dumps(element).encode() for element in whole.decode(list[Any]))
    else:
        texts = (bytes(element) for element in whole.decode(list[msgspec.Raw]))
    for number, text in enumerate(texts, 1):
        yield Line(path, number, text, "element")


def encode(record: Any) -> bytes:
    """Return a record as JSON; half a surrogate pair, which UTF-8 cannot have, is spelt out."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.json.encode(spelt_out(msgspec.to_builtins(record)))


def spelt_out(value: Any) -> Any:
    """Return a plain value with text that can be written as UTF-8."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {spelt_out(key): spelt_out(item) for key, item in value.items()}
        case list() | tuple():
            return [spelt_out(item) for item in value]
    return value
