"""Frames: how messages cross the border, and how much may cross.

A frame is a header (payload length, kind, number) and a payload of JSON. Every request carries
a number and its answer must echo it. What comes from a guest is hostile: a `Reader` never holds
more than one frame's limit beyond what was read at once, and a whole conversation has a total.
"""

import _json
import builtins
import os
import struct
from collections.abc import Iterator
from typing import Any

globals()["__builtins__"] = vars(builtins).copy()  # a candidate may patch its own only

HEADER = struct.Struct("<IBI")

# to the candidate
LOAD, CALL, OP, END, CALLS = 1, 2, 3, 4, 5
# from the candidate
LOADED, VALUE, RAISED, EXITED, LARGE, CALLBACK, UNLINKED = 11, 12, 13, 14, 15, 16, 17
# to and from the examiner
EXAMINE, RESULT, EXAMINED, BROKEN, UNFIT = 21, 22, 23, 24, 25
# to and from a notebook
CELL, RAN = 31, 32


class _Plain:
    """What JSON is decoded to: what `json` makes of it, too."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


# The C parts of json themselves: its Python parts use builtins that a candidate may have patched.
_ENCODE = _json.make_encoder(
    *(None, None, _json.encode_basestring_ascii, None, ":", ","),  # type: ignore[arg-type]
    *(False, False, True),
)
_DECODE = _json.make_scanner(_Plain())  # type: ignore[arg-type]

MAX_FRAME = 16 << 20
MAX_TOTAL = 64 << 20
MAX_NODES = 2_000_000


class Malformed(Exception):
    """What came over the border breaks the protocol."""


class TooLarge(Exception):
    """What should cross the border is larger than may cross."""


class Frame:
    """One message, its payload not yet parsed."""

    __slots__ = ("kind", "number", "payload")

    def __init__(self, kind: int, number: int, payload: bytes) -> None:
        self.kind = kind
        self.number = number
        self.payload = payload

    def __iter__(self) -> Iterator[Any]:
        return iter((self.kind, self.number, self.payload))


def pack(kind: int, number: int, payload: bytes) -> bytes:
    """Return a frame as bytes."""
    if len(payload) > MAX_FRAME:
        raise TooLarge(f"{len(payload)} bytes in one message, {MAX_FRAME} are allowed")
    return HEADER.pack(len(payload), kind, number) + payload


def dump(message: Any) -> bytes:
    """Return a message as JSON; lone surrogates survive as escapes."""
    return "".join(_ENCODE(message, 0)).encode("ascii")


def load(payload: bytes) -> Any:
    """Parse JSON of our own."""
    return _DECODE(payload.decode(), 0)[0]


def parse(payload: bytes) -> Any:
    """Parse hostile JSON. Counting first bounds the memory that parsing can take."""
    nodes = payload.count(b",") + payload.count(b"[") + payload.count(b"{")
    if nodes > MAX_NODES:
        raise Malformed(f"about {nodes} values in one message, {MAX_NODES} are allowed")
    try:
        text = payload.decode()
        value, end = _DECODE(text, 0)
    except (ValueError, RecursionError, StopIteration) as error:
        raise Malformed(f"not JSON: {error}") from None
    if end != len(text):
        raise Malformed("more than one value in a message")
    return value


class Reader:
    """Cuts a stream of bytes from one guest into frames."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._total = 0

    def renew(self) -> None:
        """Begin to count anew: what comes next is another conversation."""
        self._total = len(self._pending)

    def feed(self, data: bytes | memoryview) -> Iterator[Frame]:
        """Take bytes as they came and yield every frame that is complete."""
        self._pending += data
        self._total += len(data)
        if self._total > MAX_TOTAL:
            raise TooLarge(f"more than {MAX_TOTAL} bytes in one conversation")
        while len(self._pending) >= HEADER.size:
            length, kind, number = HEADER.unpack_from(self._pending)
            if length > MAX_FRAME:
                raise TooLarge(f"a message of {length} bytes, {MAX_FRAME} are allowed")
            end = HEADER.size + length
            if len(self._pending) < end:
                return
            payload = bytes(self._pending[HEADER.size : end])
            del self._pending[:end]
            yield Frame(kind, number, payload)


class Channel:
    """A guest's own end of the border: blocking, because a guest has nothing else to do."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._owner = os.getpid()

    def send(self, kind: int, number: int, message: Any) -> None:
        """Send one message whole."""
        self.write(pack(kind, number, dump(message)))

    def write(self, frame: bytes) -> None:
        """Send one frame whole."""
        # A child that the candidate forked must not answer in its parent's place.
        if os.getpid() != self._owner:
            os._exit(0)
        data = memoryview(frame)
        while data:
            data = data[os.write(self._fd, data) :]

    def receive(self) -> Frame | None:
        """Wait for one frame; None when the supervisor closed the border."""
        header = self._read(HEADER.size)
        if header is None:
            return None
        length, kind, number = HEADER.unpack(header)
        payload = self._read(length)
        return None if payload is None else Frame(kind, number, payload)

    def _read(self, length: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < length:
            part = os.read(self._fd, length - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


class ScriptedChannel(Channel):
    """The wire of a guest to whom all is said beforehand: it talks to nobody, but is heard."""

    def __init__(self, said: bytes | memoryview, fd: int) -> None:
        self._fd = fd
        self._owner = os.getpid()
        self._said = said
        self._at = 0

    def receive(self) -> Frame | None:
        """Return the next frame; None when there are no more."""
        if self._at == len(self._said):
            return None
        length, kind, number = HEADER.unpack_from(self._said, self._at)
        begin = self._at + HEADER.size
        self._at = begin + length
        return Frame(kind, number, bytes(self._said[begin : self._at]))
