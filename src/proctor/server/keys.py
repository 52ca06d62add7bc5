"""API keys: who may ask for what.

A key is 256 random bits, so nobody finds it by trying and one sha256 of it is all that has to be
kept. The file of keys is JSON, one object a line: a name, the digest, the scopes. It is read once,
when the service starts.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from proctor.errors import InputError, boundary
from proctor.storage.jsonl import explain_error, read_whole

Scope = Literal["grade", "execute", "tasks", "tests", "metrics"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""To have completions judged; programs run; to read tasks; their tests and solutions; metrics."""
USUAL_SCOPES: tuple[Scope, ...] = ("grade", "execute", "tasks")
PREFIX = "proctor_"
SECRET_BYTES = 32
MAX_FILE = 16 << 20
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the file of keys."""

    name: Name
    sha256: Digest
    scopes: Sequence[Scope] = USUAL_SCOPES
    created: str = ""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who sent a request."""

    name: str
    scopes: frozenset[str]


ANYBODY = Caller(name="", scopes=frozenset(SCOPES) - {"tests"})
"""Who asks a service without keys: tests and solutions are shown to holders of a key alone."""


class Keys:
    """The keys of a service."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._callers = [
            (bytes.fromhex(key.sha256), Caller(name=key.name, scopes=frozenset(key.scopes)))
            for key in keys
        ]

    def find(self, secret: bytes) -> Caller | None:
        """Return whose key it is; takes as long whichever it is, or none."""
        digest = hashlib.sha256(secret).digest()
        found = None
        for known, caller in self._callers:
            if hmac.compare_digest(known, digest):
                found = caller
        return found


def new_key(name: str, scopes: Sequence[Scope]) -> tuple[str, Key]:
    """Make a key: the secret, which is shown once, and the line that is kept."""
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    digest = hashlib.sha256(secret.encode()).hexdigest()
    created = datetime.now(UTC).isoformat(timespec="seconds")
    key = Key(name=name, sha256=digest, scopes=scopes, created=created)
    try:
        return secret, msgspec.convert(msgspec.to_builtins(key), Key)
    except msgspec.ValidationError:
        raise InputError(f"{name!r} is no name of a key; use letters, digits and ._@-") from None


def read_keys(path: Path) -> list[Key]:
    """Read a file of keys."""
    keys: list[Key] = []
    for number, line in enumerate(read_whole(path, MAX_FILE).splitlines(), 1):
        if not line.strip():
            continue
        try:
            key = msgspec.json.decode(line, type=Key)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: {explain_error(error)}") from None
        if any(key.name == other.name for other in keys):
            raise InputError(f"{path}, line {number}: there is a key {key.name} already")
        keys.append(key)
    return keys


def write_keys(path: Path, keys: Sequence[Key]) -> None:
    """Write a file of keys that its owner alone can read."""
    text = b"".join(msgspec.json.encode(key) + b"\n" for key in keys)
    with boundary(InputError, f"cannot write {path}"):
        beside = path.with_name(f".{path.name}.new")
        try:
            beside.touch(mode=0o600)
            with beside.open("wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())  # a power cut must not leave a file without any key
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
