"""Code for people to read: coloured, or two pieces of it side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_COLOURED = 64 << 10
"""Characters; hostile input can make a lexer arbitrarily slow."""
LONGEST_LINE = 4096
MAX_SHOWN = 256 << 10
MAX_COMPARED = 1000
"""Lines."""


class Shown(NamedTuple):
    """A text, as much of it as fits on a page."""

    text: str
    left_out: int
    """Characters that are not shown."""


def shown(text: str, max_characters: int = MAX_SHOWN) -> Shown:
    """Cut a text to the length that a page shows."""
    return Shown(text[:max_characters], max(0, len(text) - max_characters))


def highlight_code(code: str, language: str) -> list[Markup]:
    """Return code line by line as HTML, its words marked by what they are."""
    lines = code.splitlines()
    if len(code) <= MAX_COLOURED and all(len(line) <= LONGEST_LINE for line in lines):
        try:
            lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            pass
        else:
            # Other line ends than \n would be another number of lines.
            html = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True))
            marked = html.split("\n")
            return [Markup(line) for line in marked[: len(lines)]]  # noqa: S704  Pygments escapes
    return [escape(line) for line in lines]


class Line(NamedTuple):
    """One line of one side."""

    number: int
    text: str


class Pair(NamedTuple):
    """What stands in one row of two texts side by side."""

    kind: str
    """`same`, `changed`, `gone` or `new`."""
    left: Line | None
    right: Line | None


class Gap(NamedTuple):
    """Rows that are the same on both sides and not shown."""

    rows: int


def side_by_side(left: str, right: str, context: int = 4) -> list[Pair | Gap] | None:
    """Align two texts line by line; None if they are too long for that."""
    ours, theirs = left.splitlines(), right.splitlines()
    if max(len(ours), len(theirs)) > MAX_COMPARED:
        return None
    return list(_folded(list(_pairs(ours, theirs)), context))


def _pairs(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Pair]:
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs).get_opcodes():
        for step in range(max(b - a, d - c)):
            left = Line(a + step + 1, ours[a + step]) if a + step < b else None
            right = Line(c + step + 1, theirs[c + step]) if c + step < d else None
            kind = "same" if tag == "equal" else "changed"
            if left is None or right is None:
                kind = "new" if left is None else "gone"
            yield Pair(kind, left, right)


def _folded(pairs: Sequence[Pair], context: int) -> Iterator[Pair | Gap]:
    """Replace equal rows by gaps, except for a few around every change."""
    near: set[int] = set()
    for place, pair in enumerate(pairs):
        if pair.kind != "same":
            near.update(range(place - context, place + context + 1))
    hidden = 0
    for place, pair in enumerate(pairs):
        if near and place not in near:
            hidden += 1
            continue
        if hidden:
            yield Gap(hidden)
            hidden = 0
        yield pair
    if hidden:
        yield Gap(hidden)
