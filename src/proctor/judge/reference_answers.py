"""What a reference solution answers: found out once, then kept on disk by digest.

A file holds the bytes that came over the border, under the digest of all that they depend on: the
reference, what it was asked, the interpreter and its packages.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from proctor.storage.cache import Cache

NAME = "answers"


class ReferenceAnswers(NamedTuple):
    """All that a reference said, and the processor time it took."""

    said: bytes
    seconds: float


def answers_key(parts: Iterable[str | bytes]) -> str:
    """Return the digest of all that answers depend on."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load_answers(key: str) -> ReferenceAnswers | None:
    """Return what was kept, None if there is nothing or it is damaged."""
    kept = Cache(NAME).get(key)
    if kept is None:
        return None
    seconds, _, said = kept.partition(b"\n")
    return ReferenceAnswers(said, float(seconds))


def store_answers(key: str, answers: ReferenceAnswers) -> None:
    """Keep answers for runs to come, if that can be done."""
    Cache(NAME).put(key, f"{answers.seconds:.6f}\n".encode() + answers.said)
