"""Comparing what may come in any order; what was got is hostile, so nothing takes long."""

import hashlib
import math
from typing import Any


def same_lines(expected: str, got: str) -> bool:
    """Tell whether two texts have the same lines, each as often; blank ones do not count."""
    return _lines(expected) == _lines(got)


def _lines(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return sorted(line for line in lines if line)


def same_tokens(expected: str, got: str) -> bool:
    """Tell whether two texts have the same tokens, each as often."""
    return sorted(expected.split()) == sorted(got.split())


def same_elements(expected: Any, got: Any) -> bool:
    """Tell whether two lists have the same elements, each as often; these are in order inside."""
    if not (isinstance(expected, list | tuple) and isinstance(got, list | tuple)):
        return False
    try:
        digests: dict[int, bytes] = {}
        wanted = sorted(_digest(item, digests) for item in expected)
        return len(got) == len(wanted) and wanted == sorted(_digest(x, digests) for x in got)
    except (ArithmeticError, ValueError, TypeError, RecursionError):
        return False


def _digest(value: Any, known: dict[int, bytes]) -> bytes:
    """Return the same bytes for equal values, others for others, each container looked at once."""
    if id(value) in known:
        return known[id(value)]
    match value:
        case list() | tuple():
            parts = [b"list", *(_digest(item, known) for item in value)]
        case dict():
            pairs = (_digest(key, known) + _digest(item, known) for key, item in value.items())
            parts = [b"dict", *sorted(pairs)]
        case set() | frozenset():
            parts = [b"set", *sorted(_digest(item, known) for item in value)]
        case float() if math.isnan(value):
            return f"nan {id(value)}".encode()  # equal to nothing
        case int() | float() if math.isfinite(value) and value == int(value):
            return b"int" + hex(int(value)).encode()
        case _:
            return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")
    known[id(value)] = hashlib.sha256(b"".join(len(p).to_bytes(8) + p for p in parts)).digest()
    return known[id(value)]
