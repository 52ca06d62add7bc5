"""What a reference solution answers: found out once, then kept on disk by digest.

A file holds the bytes that came over the border, under the digest of all that they depend on: the
reference, what it was asked, the interpreter and its packages. It is written beside its place and
moved there, so runs that share the folder see it whole or not at all, and it carries the digest
of its content: one that is damaged is not believed but found out again. A folder that cannot be
written costs time, nothing else.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from proctor.settings import home

HEADER = b"proctor answers 1"


class Answers(NamedTuple):
    """All that a reference said, and the processor time it took."""

    said: bytes
    seconds: float


def key_of(parts: Iterable[str | bytes]) -> str:
    """Return the digest of all that answers depend on."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def folder() -> Path | None:
    """Return where answers are kept."""
    return home(".cache", "proctor", "answers")


def recall(key: str) -> Answers | None:
    """Return what was kept, None if there is nothing or it is damaged."""
    place = folder()
    if place is None:
        return None
    with suppress(OSError, ValueError):
        head, _, said = (place / key).read_bytes().partition(b"\n")
        title, seconds, digest = head.rsplit(b" ", 2)
        if title == HEADER and digest == _digest(seconds, said):
            return Answers(said, float(seconds))
    return None


def keep(key: str, answers: Answers) -> None:
    """Keep answers for runs to come, if that can be done."""
    place = folder()
    if place is None:
        return
    seconds = f"{answers.seconds:.6f}".encode()
    head = b" ".join((HEADER, seconds, _digest(seconds, answers.said)))
    beside = place / f"{key}.{os.getpid()}.{secrets.token_hex(8)}"
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(head + b"\n" + answers.said)
            beside.replace(place / key)
        finally:
            beside.unlink(missing_ok=True)


def _digest(seconds: bytes, said: bytes) -> bytes:
    return hashlib.sha256(seconds + b"\n" + said).hexdigest().encode()
