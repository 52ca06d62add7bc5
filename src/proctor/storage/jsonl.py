"""Rows of JSON: those of files that may be wrong, and those that we write.

Files are JSONL or one array, plain, .gz or .zst; or TOML, in which people can write rows that hold
code. Whatever is wrong with one is a single sentence that names the file, the line and the field.
JSON is read as a stream, and a row has bounds in length and depth, so that a broken file eats
neither the memory nor the stack.
"""

import gzip
import hashlib
import json
import re
import sys
import tomllib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

import msgspec

from proctor.errors import InputError, boundary
from proctor.storage.json_array import BOM, CHUNK, STRING, BrokenArrayError, iterate_array

MAX_LINE = 64 << 20
MAX_DEPTH = 100
"""What is nested deeper could not be sent to a candidate either."""
MAX_SHOWN = 80
COMPRESSED = (".gz", ".zst")
START = 4096
UTF16 = (b"\xff\xfe", b"\xfe\xff")
ODD = re.compile(rb"\\u[dD][89a-fA-F]|NaN|Infinity")
"""What Python's json writes and msgspec does not read: half a surrogate pair, and no numbers."""
BRACKETS = bytes.maketrans(b"{}", b"[]")
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "an array",
}
"""What we call the types of JSON."""

Row = TypeVar("Row")


class Line(NamedTuple):
    """One row's text and where it stands."""

    file: Path
    number: int
    text: bytes
    unit: str = "line"
    """What `number` counts: lines, elements of one array, or tables of one name."""
    place: tuple[int, int] | None = None
    """Offset and length in the file, where it can be read from anywhere."""

    def error(self, what: str) -> InputError:
        """Return an error that says where."""
        return InputError(f"{self.file}, {self.unit} {self.number}: {what}")

    def decode(self, kind: type[Row], *, constants: bool = False) -> Row:
        """Parse the row as a record; `constants` are NaN and Infinity, which JSON has not."""
        try:
            row = decode_json(self.text, kind, constants=constants)
        except (ValueError, RecursionError) as error:
            raise self.error(explain_error(error)) from None
        if is_deeply_nested(self.text):
            raise self.error(TOO_DEEP)
        return row


def decode_json(text: bytes, kind: type[Row], *, constants: bool = False) -> Row:
    """Parse a text as a record; ValueError and RecursionError say what is wrong with it."""
    try:
        return _decoder_of(kind).decode(text)  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if not ODD.search(text):
            raise
    return msgspec.convert(json.loads(text, parse_constant=None if constants else _refuse), kind)


_decoder_of: Callable[[Any], msgspec.json.Decoder[Any]] = cache(msgspec.json.Decoder)
"""Cached because making a decoder takes longer than decoding a short row."""


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")


TOO_DEEP = f"nested more than {MAX_DEPTH} deep"


def is_deeply_nested(text: bytes) -> bool:
    """Say whether JSON is nested too deep for those who have to walk it."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    brackets = STRING.sub(b"", text).translate(BRACKETS, NO_BRACKETS)
    for _ in range(MAX_DEPTH):  # the innermost ones go first
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def explain_error(error: Exception) -> str:
    """Say in our words what msgspec or json find wrong with a text, and with which field of it."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{error.object[error.start]:02x}, {error.reason}"
    if not isinstance(error, msgspec.ValidationError):
        return "not JSON: " + str(error).removeprefix("JSON is malformed: ")
    what, _, where = str(error).partition(" - at `")
    field = where.removesuffix("`").removeprefix("key in ").removeprefix("$").removeprefix(".")
    if found := re.fullmatch(r"Object (missing|contains)\D* field `(.*)`", what, re.DOTALL):
        name = f"{field}.{found[2]}" if field else found[2]
        return f"field {name} is {'missing' if found[1] == 'missing' else 'not known'}"
    subject = "it" if not field else "a field" if "[...]" in field else f"field {field}"
    if found := re.fullmatch(r"Expected `(.*?)`(.*?)(?:, got `(.*)`)?", what, re.DOTALL):
        wanted = " or ".join(WORDS.get(word, word) for word in found[1].split(" | "))
        got = "" if found[3] is None else f", not {WORDS.get(found[3], found[3])}"
        return f"{subject} must be {wanted}{found[2]}{got}"
    if found := re.fullmatch(r"Invalid (?:enum )?value (.*)", what, re.DOTALL):
        return f"{subject} cannot be {found[1]}"
    what = what[0].lower() + what[1:]
    return f"{subject}: {what}" if field else what


def shorten(value: Any) -> str:
    """Return a value of somebody else's as a short text for a message."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def is_folder(path: Path) -> bool:
    """Say whether a path is that of a folder; one that no path can be is refused."""
    with boundary(InputError, f"cannot read {path}"):
        return path.is_dir()


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
        from compression import zstd  # noqa: PLC0415  only for compressed files
    else:
        from backports import zstd  # noqa: PLC0415  only for compressed files
    return zstd


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say so if a file is torn, or is not what its name says."""
    damage = (EOFError, zlib.error, *([_zstd().ZstdError] if path.suffix == ".zst" else []))
    try:
        with boundary(InputError, f"cannot read {path}"):
            yield
    except damage as error:
        raise InputError(f"cannot read {path}: {error}") from None


def read_start(path: Path) -> bytes:
    """Return how a file begins, white space excepted."""
    with open_bytes(path) as file, _reading(path):
        return file.read(START).removeprefix(BOM).lstrip()


def read_whole(path: Path, max_bytes: int = MAX_LINE) -> bytes:
    """Return the content of a file that has no business to be long."""
    with open_bytes(path) as file, _reading(path):
        return read_bounded(str(path), file, max_bytes)


def read_bounded(name: str, file: IO[bytes], max_bytes: int = MAX_LINE) -> bytes:
    """Return what is left of a stream, which may be endless."""
    content = bytearray()
    while chunk := file.read(CHUNK):
        content += chunk
        if len(content) > max_bytes:
            raise InputError(f"cannot read {name}: it is longer than {max_bytes >> 20} MiB")
    return bytes(content)


def file_sha256(path: Path) -> str:
    """Return the digest of a file's content, decompressed."""
    digest = hashlib.sha256()
    with open_bytes(path) as file, _reading(path):
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the rows of a file: its lines, the elements of one array, or its tables."""
    with open_bytes(path) as file, _reading(path):
        if ".toml" in path.suffixes[-2:]:
            yield from _tables(path, file)
            return
        start = file.read(64)
        file.seek(0)
        if start.startswith(UTF16):
            raise InputError(f"cannot read {path}: it is UTF-16; save it as UTF-8")
        is_array = start.removeprefix(BOM).lstrip().startswith(b"[")
        yield from _array(path, file) if is_array else _rows(path, file)


def _rows(path: Path, file: IO[bytes]) -> Iterator[Line]:
    number = offset = 0
    plain = path.suffix not in COMPRESSED
    while text := file.readline(MAX_LINE + 1):
        number += 1
        place = (offset, len(text)) if plain else None
        line = Line(path, number, text.removeprefix(BOM).strip(), place=place)
        offset += len(text)
        if len(text) > MAX_LINE:
            raise line.error(f"longer than {MAX_LINE >> 20} MiB")
        if line.text:
            yield line


def _array(path: Path, file: IO[bytes]) -> Iterator[Line]:
    line = Line(path, 0, b"", "element")
    try:
        for text in iterate_array(file, MAX_LINE):
            line = line._replace(number=line.number + 1, text=text)
            yield line
    except BrokenArrayError as error:
        raise line._replace(number=line.number + 1).error(str(error)) from None


def _tables(path: Path, file: IO[bytes]) -> Iterator[Line]:
    """Yield the tables `[[task]]` of a TOML file, by whatever name, numbered from 1."""
    document = parse_toml(path, read_bounded(str(path), file, MAX_LINE))
    match list(document.items()):
        case [(name, [*tables])]:
            pass
        case _:
            raise InputError(f"{path}: must be a list of tables of one name, as in [[task]]")
    for number, table in enumerate(tables, 1):
        line = Line(path, number, b"", name)
        try:
            yield line._replace(text=json.dumps(table).encode())
        except TypeError:
            raise line.error("dates and times have no meaning here") from None


def parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    """Parse the content of a TOML file."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {explain_error(error)}") from None
    except ValueError as error:  # tomllib's errors, and a number that Python will not read
        raise InputError(f"{path}: not TOML: {error}") from None
