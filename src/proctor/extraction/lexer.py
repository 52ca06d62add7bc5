"""Braces of a text in a C-like language, but not those in its strings and comments.

A scanner, not a parser: it knows what hides a brace (strings, characters, raw strings, templates,
comments, regular expressions of JavaScript), and nothing else. Its cost is linear in the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Whatever begins also ends, at the latest with the text: else each beginning would seek its end.
_LINE, _BLOCK = r"//[^\n]*+", r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_NESTED = rf"/\*(?:[^*/]++|\*(?!/)|/(?!\*)|{_BLOCK})*+(?:\*/)?+"
_STRING = r'"(?:[^"\\\n]++|\\[\s\S])*+"?+'
_CHARACTER = r"'(?:[^'\\\n]|\\(?:u\{?[0-9a-fA-F]++\}?|x[0-9a-fA-F]++|[0-7]{1,3}|.))'"
_QUOTED = r"'(?:[^'\\\n]++|\\[\s\S])*+'?+"
_TEMPLATE = (
    r"`(?:[^`\\$]++|\\[\s\S]|\$(?!\{)"
    r"|\$\{(?:[^{}`]++|\{[^{}`]*+\}?+|`[^`]*+`?+)*+\}?+)*+`?+"
)
_REGEX = (
    r"(?:(?<=[=(,:;!&|?{}\[])|(?<=\breturn)|^)[ \t]*+/(?![/*])"
    r"(?:[^/\\\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\]?+)*+/?+"
)
_RAW_CPP = (
    r'\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?:[^)]++|\)(?!(?P=mark)"))*+(?:\)(?P=mark)")?+'
)
_RAW_RUST = r'\bb?r(?P<hashes>#*+)"(?:[^"]++|"(?!(?P=hashes)))*+(?:"(?P=hashes))?+'
_RAW_GO = r"`[^`]*+`?+"
_TEXT_BLOCK = r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+(?:""")?+'

_HIDES = {
    "c": (_LINE, _BLOCK, _STRING, _CHARACTER),
    "cpp": (_LINE, _BLOCK, _RAW_CPP, _STRING, _CHARACTER),
    "go": (_LINE, _BLOCK, _RAW_GO, _STRING, _CHARACTER),
    "java": (_LINE, _BLOCK, _TEXT_BLOCK, _STRING, _CHARACTER),
    "javascript": (_LINE, _BLOCK, _TEMPLATE, _STRING, _QUOTED, _REGEX),
    "typescript": (_LINE, _BLOCK, _TEMPLATE, _STRING, _QUOTED, _REGEX),
    "rust": (_LINE, _NESTED, _RAW_RUST, _STRING, _CHARACTER),
}
_TOKENS = {
    language: re.compile("|".join((*hides, r"(?P<brace>[{}])")), re.MULTILINE)
    for language, hides in _HIDES.items()
}
LANGUAGES = frozenset(_HIDES)


class Brace(NamedTuple):
    """One brace that counts, and how deep one is behind it."""

    at: int
    depth: int


def braces(text: str, language: str, depth: int = 0) -> Iterator[Brace]:
    """Yield the braces of a text that begins at some depth."""
    for token in _TOKENS[language].finditer(text):
        brace = token["brace"]
        if brace is not None:
            depth += 1 if brace == "{" else -1
            yield Brace(token.start(), depth)


def visible(text: str, language: str) -> str:
    """Return a text without its comments and strings."""
    return _TOKENS[language].sub(lambda token: token["brace"] or " ", text)


def masked(text: str, language: str) -> str:
    """Return a text of the same length and lines without its comments and strings."""

    def blank(token: re.Match[str]) -> str:
        return token["brace"] or re.sub(r"[^\n]", " ", token[0])

    return _TOKENS[language].sub(blank, text)


def depth_after(text: str, language: str) -> int:
    """Return how many braces a text leaves open; less than none if it closes more."""
    depth = 0
    for brace in braces(text, language):
        depth = brace.depth
    return depth


def lowest(text: str, language: str) -> int:
    """Return how many braces a text closes that it did not open."""
    return -min((brace.depth for brace in braces(text, language)), default=0)


def end_of(
    text: str, language: str, *, start: int = 0, depth: int = 0, until: int = 0
) -> int | None:
    """Return where the brace stands that first brings the depth down; None if none does."""
    for brace in braces(text[start:], language, depth):
        if brace.depth <= until and text[start + brace.at] == "}":
            return start + brace.at
    return None
