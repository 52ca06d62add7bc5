"""Which versions a selector takes: the ranges of node-semver, which Piston uses.

`3.12.0`, `3.12`, `3.x`, `*`, `^3.10`, `~3.12.1`, `>=3.10 <4`, `3.10 - 3.12`, `3.11 || 3.12`. A
selector that is none of these takes nothing. Versions here are releases, so a pre-release in a
selector takes nothing either.
"""

import re
from collections.abc import Sequence

Version = tuple[int, int, int]
"""Of a program: major, minor, patch."""

MAX_SELECTOR = 256
FURTHEST: Version = (10**17, 0, 0)
_VERSION = re.compile(r"\d{1,16}(?:\.\d{1,16})+")
_OPERATOR = re.compile(r"(\^|~>?|>=|<=|>|<|=)\s+")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")
_WORD = re.compile(
    r"(\^|~>?|>=|<=|>|<|=)?[v=]*([\dxX*]{1,16}(?:\.[\dxX*]{1,16}){0,2})(?:\+[\w.-]+)?"
)
_FREE = {"x", "X", "*"}


def version_in(text: str) -> str:
    """Return the first version in what a command says of itself, with three numbers."""
    found = _VERSION.search(text)
    numbers = [] if found is None else found[0].split(".")
    return ".".join([*numbers, "0", "0", "0"][:3])


def parsed(version: str) -> Version:
    """Return the numbers of a version that has three."""
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def satisfies(version: Version, selector: str) -> bool:
    """Say whether a selector takes a version."""
    if len(selector) > MAX_SELECTOR:
        return False
    return any(_takes(version, part.strip()) for part in selector.split("||"))


def _takes(version: Version, part: str) -> bool:
    hyphen = _HYPHEN.fullmatch(part)
    if hyphen is not None:
        words = [f">={hyphen[1]}", f"<={hyphen[2]}"]
    else:
        words = _OPERATOR.sub(r"\1", part).split() or ["*"]
    ranges = [_range(word) for word in words]
    return all(found is not None and found[0] <= version < found[1] for found in ranges)


def _range(word: str) -> tuple[Version, Version] | None:
    """Return the first version that a word takes and the first behind it that it does not."""
    found = _WORD.fullmatch(word)
    if found is None:
        return None
    numbers = _numbers(found[2])
    if numbers is None:
        return None
    low, high = _padded(numbers), _behind(numbers, len(numbers))
    zero = _padded([])
    match found[1]:
        case "^":
            first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
            return low, _behind(numbers, first + 1)
        case "~" | "~>":
            return low, _behind(numbers, min(len(numbers), 2))
        case ">":
            return high, FURTHEST
        case ">=":
            return low, FURTHEST
        case "<":
            return zero, low
        case "<=":
            return zero, high
    return low, high


def _numbers(text: str) -> list[int] | None:
    """Return the numbers before the first that is free; None if something else is among them."""
    numbers: list[int] = []
    for part in text.split("."):
        if part in _FREE:
            break
        if not part.isdigit():
            return None
        numbers.append(int(part))
    return numbers


def _padded(numbers: Sequence[int]) -> Version:
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    return major, minor, patch


def _behind(numbers: Sequence[int], count: int) -> Version:
    """Return the first version that does not begin with the first `count` numbers."""
    if count <= 0:
        return FURTHEST
    return _padded([*numbers[: count - 1], numbers[count - 1] + 1])
