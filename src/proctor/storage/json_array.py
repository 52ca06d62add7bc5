"""The elements of one array in a file, of which no more than one is held in memory.

Only strings, brackets and commas are looked at, to find where an element ends; whether it is JSON
is the business of those who read it.
"""

import re
from collections.abc import Iterator
from typing import IO

CHUNK = 1 << 20
BOM = b"\xef\xbb\xbf"
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
MARK = re.compile(STRING.pattern + rb'|["\[\]{}]', re.DOTALL)
"""A string, or a bracket, or the quotation mark of a string whose end is not in sight."""
MARK_OR_COMMA = re.compile(MARK.pattern + rb"|,", re.DOTALL)


class BrokenArrayError(Exception):
    """The array has no end, or an element that is too long."""


def iterate_array(file: IO[bytes], max_bytes: int) -> Iterator[bytes]:
    """Yield the elements of the array that a file begins with, each at most so many bytes."""
    text = file.read(CHUNK).removeprefix(BOM).lstrip()[1:]
    depth, place, comma = 0, 0, False
    while True:
        begin = 0
        while (mark := _next(text, place, depth)) is not None:
            place, sign = mark.end(), mark[0]
            depth += (sign in (b"[", b"{")) - (sign in (b"]", b"}"))
            if depth < 0 or sign == b",":
                element = text[begin : mark.start()].strip()
                if element or comma or sign == b",":  # not in an empty array
                    yield _short(element, max_bytes)
                begin, comma = place, True
            if depth < 0:
                if text[place:].strip() or file.read(CHUNK).strip():
                    raise BrokenArrayError("not JSON: there is more behind the array")
                return
        text, place = _short(text[begin:], max_bytes), place - begin
        # Twice as much each time: a long string is not searched for its end again and again.
        more = file.read(max(CHUNK, len(text)))
        if not more:
            raise BrokenArrayError("not JSON: the file ends before the array does")
        text += more


def _next(text: bytes, place: int, depth: int) -> re.Match[bytes] | None:
    """Return what is next of importance; commas are, between the elements."""
    mark = (MARK if depth else MARK_OR_COMMA).search(text, place)
    return None if mark is None or mark[0] == b'"' else mark


def _short(text: bytes, max_bytes: int) -> bytes:
    if len(text) > max_bytes:
        raise BrokenArrayError(f"longer than {max_bytes >> 20} MiB")
    return text
