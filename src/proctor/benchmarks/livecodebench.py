"""Rows of LiveCodeBench: contest problems with their dates, public tests and hidden ones.

Hidden tests are published as base64 of zlib of a pickle of a JSON text. Unpickling runs whatever
code a pickle names, so nothing is unpickled here: a pickle of one string is a handful of opcodes,
and only those are read. What a row unpacks to is bounded.
"""

import base64
import binascii
import io
import pickletools
import zlib
from datetime import date
from typing import Any

import msgspec

from proctor.benchmarks.contest_rows import BadRow, listed_tests, question_text
from proctor.benchmarks.source import Source
from proctor.extraction.assemble import BASE_IMPORTS
from proctor.records.limits import Limits
from proctor.records.task import Metadata, Task
from proctor.storage.jsonl import Line, shorten

SECONDS = 6.0
MAX_UNPACKED = 512 << 20
STRINGS = ("BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "UNICODE")
AROUND = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "STOP")
RELEASES = {
    f"release_v{last}": tuple(f"test{'' if n == 1 else n}.jsonl" for n in range(1, last + 1))
    for last in range(1, 7)
}


class Row(msgspec.Struct, kw_only=True):
    """One line of code_generation_lite, or of code_generation."""

    question_id: str
    question_content: str
    public_test_cases: str
    private_test_cases: str
    contest_date: str
    question_title: str = ""
    platform: str = ""
    starter_code: str = ""
    difficulty: str | None = None
    metadata: str = "{}"


Tests = list[dict[str, Any]]


def read(line: Line) -> Task:
    """Read one task."""
    row = line.decode(Row)
    try:
        about = _decoded("metadata", row.metadata, dict[str, Any])
        tests = [
            *_decoded("public_test_cases", row.public_test_cases, Tests),
            *_decoded("private_test_cases", unpacked(row.private_test_cases), Tests),
        ]
        cases = listed_tests("test_cases", tests, about.get("func_name"))
        day = _day(row.contest_date)
    except BadRow as error:
        raise line.error(str(error)) from None
    tags = [row.platform] if row.platform else []
    return Task(
        task_id=row.question_id,
        prompt=question_text(row.question_content, row.starter_code),
        preamble=BASE_IMPORTS,
        tests=msgspec.structs.replace(cases, compare="lcb", max_tests=None),
        metadata=Metadata(difficulty=row.difficulty, tags=tags, date=day),
        limits=Limits().with_seconds(SECONDS),
    )


def unpacked(text: str) -> str:
    """Return the JSON text of hidden tests, which stands there as it is or packed."""
    if text.lstrip().startswith(("[", "{")):
        return text
    try:
        packed = base64.b64decode(text, validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, MAX_UNPACKED)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise BadRow(f"field private_test_cases is not base64 of zlib: {error}") from None
    if not unpacker.eof:
        more = "unpacks to more than 512 MiB" if unpacker.unconsumed_tail else "is cut off"
        raise BadRow(f"field private_test_cases {more}")
    return pickled_string(content)


def pickled_string(content: bytes) -> str:
    """Return the string that a pickle holds; one that holds anything else is refused unread."""
    found: str | None = None
    opcodes = pickletools.genops(io.BytesIO(content))
    while True:
        try:
            opcode, argument, _ = next(opcodes)
        except StopIteration:
            break
        except (ValueError, OverflowError, MemoryError) as error:
            raise BadRow(
                f"field private_test_cases is not a pickle: {shorten(str(error))}"
            ) from None
        if opcode.name in STRINGS and found is None:
            found = str(argument)
        elif opcode.name not in AROUND:
            raise BadRow(f"field private_test_cases holds more than a text: {opcode.name}")
    if found is None:
        raise BadRow("field private_test_cases holds no text")
    return found


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise BadRow(f"field contest_date must begin as 2024-08-31, not {shorten(text)}") from None


def _decoded(field: str, text: str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text or "{}", type=kind)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadRow(f"field {field} is not JSON of tests: {error}") from None


SOURCES = (
    Source(
        name="livecodebench",
        position=80,
        summary="contest problems by date (Jain et al. 2024), code_generation_lite",
        tasks=1055,
        file="test6.jsonl",
        url="https://huggingface.co/datasets/livecodebench/code_generation_lite",
        licence="see its page",
        read=read,
        matches=lambda fields: "private_test_cases" in fields,
        releases=RELEASES,
    ),
)
