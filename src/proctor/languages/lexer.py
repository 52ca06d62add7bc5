"""Count the braces of a C-like language, but not those in its strings and comments.

A scanner, not a parser: it knows what hides a brace (strings, characters, raw strings, templates,
comments, regular expressions of JavaScript), and nothing else. Its cost is linear in the text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

# Every pattern ends with the text at the latest: else each beginning would scan for its end.
LINE, BLOCK = r"//[^\n]*+", r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
STRING = r'"(?:[^"\\\n]++|\\[\s\S])*+"?+'
CHARACTER = r"'(?:[^'\\\n]|\\(?:u\{?[0-9a-fA-F]++\}?|x[0-9a-fA-F]++|[0-7]{1,3}|.))'"


class Brace(NamedTuple):
    """One brace that counts, and how deep one is behind it."""

    at: int
    depth: int


class Lexer(msgspec.Struct, frozen=True, kw_only=True):
    """What hides a brace in one language; nothing at all where blocks have no braces."""

    hides: Sequence[str] = ()
    """Patterns of strings and comments."""
    example: str = ""
    """A text that opens one brace more than it closes, with others in strings and comments."""

    def braces(self, text: str, depth: int = 0) -> Iterator[Brace]:
        """Yield the braces of a text that begins at some depth."""
        for token in _tokens(self.hides).finditer(text):
            brace = token["brace"]
            if brace is not None:
                depth += 1 if brace == "{" else -1
                yield Brace(token.start(), depth)

    def visible(self, text: str) -> str:
        """Return a text without its comments and strings."""
        return _tokens(self.hides).sub(lambda token: token["brace"] or " ", text)

    def masked(self, text: str) -> str:
        """Return a text of the same length and lines without its comments and strings."""

        def blank(token: re.Match[str]) -> str:
            return token["brace"] or re.sub(r"[^\n]", " ", token[0])

        return _tokens(self.hides).sub(blank, text)

    def depth_after(self, text: str) -> int:
        """Return how many braces a text leaves open; less than none if it closes more."""
        depth = 0
        for brace in self.braces(text):
            depth = brace.depth
        return depth

    def lowest(self, text: str) -> int:
        """Return how many braces a text closes that it did not open."""
        return -min((brace.depth for brace in self.braces(text)), default=0)

    def end_of(self, text: str, *, start: int = 0, depth: int = 0, until: int = 0) -> int | None:
        """Return where the brace stands that first brings the depth down; None if none does."""
        for brace in self.braces(text[start:], depth):
            if brace.depth <= until and text[start + brace.at] == "}":
                return start + brace.at
        return None


@cache
def _tokens(hides: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join((*hides, r"(?P<brace>[{}])")), re.MULTILINE)
