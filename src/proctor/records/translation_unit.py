"""A translation unit with a candidate in its hole, and where the candidate stands in it.

Includes with which a candidate begins are put in front of the unit: the hole may be inside of a
namespace. All else stands in the hole as it is written.
"""

import re
from typing import NamedTuple

HOLE = b"/*HOLE*/"
# Standard library only: this file is sent into boxes, too.
INCLUDES = re.compile(
    rb"(?:[ \t]*(?://[^\n]*|#[ \t]*(?:include|pragma[ \t]+once)\b[^\n]*)?(?:\n|\Z))*"
)
INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"\n]*[>\"]?)", re.MULTILINE)


class SourcePosition(NamedTuple):
    """A place in a candidate's own text, counted from 1 in lines and characters."""

    line: int
    column: int


class FilledUnit(NamedTuple):
    """The whole unit; what the candidate wrote is its first `front` bytes, and `start` to `end`."""

    text: bytes
    code: bytes
    front: int
    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Say whether a place of the unit is the candidate's."""
        return offset < self.front or self.start <= offset < self.end

    def place(self, offset: int) -> SourcePosition:
        """Return where in a candidate's text a place of the unit is."""
        at = offset if offset < self.front else offset - self.start + self.front
        at = max(min(at, len(self.code)), 0)
        begin = self.code.rfind(b"\n", 0, at) + 1
        column = len(self.code[begin:at].decode("utf-8", "replace")) + 1
        return SourcePosition(self.code.count(b"\n", 0, at) + 1, column)


def fill_hole(unit: bytes, code: bytes) -> FilledUnit:
    """Put a candidate into the hole of a unit."""
    before, _, behind = unit.partition(HOLE)
    found = INCLUDES.match(code)
    cut = 0
    if found is not None and INCLUDE.search(found[0]):
        cut = found.end()
        if not code[:cut].endswith(b"\n"):
            code += b"\n"
            cut += 1
    front, rest = code[:cut], code[cut:]
    text = front + before + rest + behind
    start = len(front) + len(before)
    return FilledUnit(text, code, len(front), start, start + len(rest))
