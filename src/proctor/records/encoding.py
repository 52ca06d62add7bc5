"""Records as JSON, whatever text they hold."""

from typing import Any

import msgspec


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
