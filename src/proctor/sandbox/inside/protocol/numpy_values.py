"""Numpy's scalars and arrays across the border, without numpy unless somebody has loaded it."""

import struct
import sys
from collections.abc import Callable
from typing import Any

from .frames import Malformed, TooLarge

MAX_BYTES = 4 << 20
KINDS = "biufcSUMm"
"""Kinds of dtype whose bytes say all; an array of objects is none."""


def pack_array(value: Any) -> Any:
    """Return a scalar or array as dtype, shape and bytes; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.generic, numpy.ndarray)):
        return None
    if value.dtype.kind not in KINDS:
        return None
    if value.nbytes > MAX_BYTES:
        raise TooLarge(f"an array of {value.nbytes} bytes")
    return {"a": [value.dtype.str, list(value.shape), value.tobytes().hex()]}


def unpack_array(data: Any, other: Callable[[str, Any], Any], *, numpy: bool) -> Any:
    """Return an array where `numpy` is asked for and there; a plain number for a scalar else."""
    dtype, shape, content = data
    if not isinstance(dtype, str) or dtype[1:2] not in KINDS:
        raise Malformed("not a plain array")
    if any(type(length) is not int or length < 0 for length in shape):
        raise Malformed("not the shape of an array")
    raw = bytes.fromhex(content)
    np = _numpy() if numpy else None
    if np is not None:
        array = np.frombuffer(raw, dtype=dtype).reshape(shape)
        return array.copy() if shape else array[()]
    return other("a", data) if shape else _number(dtype, raw)


def _numpy() -> Any:
    try:
        import numpy  # noqa: PLC0415  only where an array crosses
    except ImportError:
        return None
    return numpy


def _number(dtype: str, raw: bytes) -> Any:
    little = dtype[0] in "<|"
    if dtype[1] in "iu":
        return int.from_bytes(raw, "little" if little else "big", signed=dtype[1] == "i")
    codes = {"b": "?", "f": {2: "e", 4: "f", 8: "d"}.get(len(raw), "")}
    return struct.unpack(("<" if little else ">") + codes[dtype[1]], raw)[0]
