"""Checkpoints that are complete, and which content each of them has."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import HostError, InputError, ProctorError, boundary
from proctor.models.weights_digest import weights_sha256
from proctor.storage.jsonl import read_whole
from proctor.watch.config import Config

INDEX = "model.safetensors.index.json"
MAX_INDEX = 64 << 20
MAX_HEADER = 100 << 20
MAX_FILES = 100_000
"""Of one checkpoint; what has more is no checkpoint."""
MAX_CHECKPOINTS = 100_000


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One content of one folder or file."""

    path: str
    """Resolved, so that no two paths lead to one checkpoint."""
    fingerprint: str
    schema: int = 1

    @property
    def digest(self) -> str:
        """Tell it from every other one."""
        return hashlib.sha256(f"{self.path}\0{self.fingerprint}".encode()).hexdigest()


class IncompleteCheckpoint(NamedTuple):
    """What may become a checkpoint."""

    path: str
    why: str


class File(NamedTuple):
    """By what one can tell that a file has not changed."""

    name: str
    size: int
    changed_ns: int
    inode: int


Facts = tuple[File, ...]


class _Seen(NamedTuple):
    facts: Facts
    since: float
    """On the clock of this process, which nobody sets."""
    fingerprint: str | None = None


class Finder:
    """Looks for checkpoints again and again, and remembers since when each is as it is."""

    def __init__(self, config: Config, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._clock = clock
        self._seen: dict[Path, _Seen] = {}

    def look(self) -> list[Checkpoint | IncompleteCheckpoint]:
        """Return all that there are, those that are not complete with the reason."""
        found: list[Checkpoint | IncompleteCheckpoint] = []
        there = list(islice(self._candidates(), MAX_CHECKPOINTS))
        for path in there:
            try:
                found.append(self._judge(path))
            except (OSError, ProctorError) as error:  # it may go or change while we look
                if isinstance(error, HostError):
                    raise
                found.append(IncompleteCheckpoint(_text(path), f"it cannot be read: {error}"))
        self._seen = {path: seen for path, seen in self._seen.items() if path in set(there)}
        return found

    def _candidates(self) -> Iterator[Path]:
        """Yield what the pattern finds, each once, by whatever links one gets there."""
        known = set()
        for folder in map(Path, self._config.folders):
            with boundary(InputError, f"cannot watch {folder}"):
                every = sorted(folder.glob(self._config.pattern))
            for path in every:
                resolved = path.resolve()
                if path.name.startswith(".") or resolved in known:
                    continue
                if resolved.is_dir() or resolved.suffix == ".gguf":
                    known.add(resolved)
                    yield resolved

    def _judge(self, path: Path) -> Checkpoint | IncompleteCheckpoint:
        facts = facts_of(path)
        seen = self._seen.get(path)
        if seen is None or seen.facts != facts:
            seen = self._seen[path] = _Seen(facts, self._clock())
        if seen.fingerprint is not None:  # it was complete, and has not changed
            return Checkpoint(path=_text(path), fingerprint=seen.fingerprint)
        why = self._lacks(path, seen)
        if why is not None:
            return IncompleteCheckpoint(_text(path), why)
        digest = content_digest(path, facts)
        if facts_of(path) != facts:
            return IncompleteCheckpoint(_text(path), "it changes while it is looked at")
        self._seen[path] = seen._replace(fingerprint=digest)
        return Checkpoint(path=_text(path), fingerprint=digest)

    def _lacks(self, path: Path, seen: _Seen) -> str | None:
        """Say what a checkpoint waits for, None if it is complete."""
        config = self._config
        if not seen.facts:
            return "it is empty"
        if config.complete == "marker":
            there = any(file.name == config.marker for file in seen.facts)
            return None if there else f"{config.marker} is not there"
        lacking = missing_shards(path)
        if lacking is not None:
            return lacking
        if config.complete == "shards":
            if path.is_dir() and not (path / INDEX).is_file():
                return f"{INDEX} is not there"
            return None
        calm = self._clock() - seen.since
        if calm < config.settle_seconds:
            return f"unchanged for {calm:.0f} of {config.settle_seconds:g} s"
        return None


def _text(path: Path) -> str:
    """Return a path that can be written down."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError(f"{path!r}: its name is no text") from None
    return str(path)


def facts_of(path: Path) -> Facts:
    """Return names, sizes and times of all files below a path, in one order."""
    if path.is_file():
        return (_file(path, path.name),)
    found = []
    for folder, below, names in os.walk(path):
        below.sort()
        for name in sorted(names):
            place = Path(folder, name)
            found.append(_file(place, place.relative_to(path).as_posix()))
            if len(found) > MAX_FILES:
                raise InputError(f"{path}: more than {MAX_FILES} files are no checkpoint")
    return tuple(sorted(found))


def _file(path: Path, name: str) -> File:
    facts = path.stat()
    return File(name, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def has_not_changed(checkpoint: Checkpoint) -> bool:
    """Say whether a checkpoint still has the content that it is known by."""
    try:
        return content_digest(Path(checkpoint.path)) == checkpoint.fingerprint
    except OSError:
        return False  # it is gone, or goes


def content_digest(path: Path, facts: Facts | None = None) -> str:
    """Return a digest of all files below a path: their names, sizes, and parts of each."""
    facts = facts_of(path) if facts is None else facts
    if path.is_file():
        return weights_sha256(path)
    digest = hashlib.sha256()
    for file in facts:
        digest.update(f"{file.name}\0".encode("utf-8", "surrogateescape"))
        digest.update(bytes.fromhex(weights_sha256(path / file.name)))
    return digest.hexdigest()


def missing_shards(path: Path) -> str | None:
    """Say which part of the weights is not there or not whole; None if nothing is known to lack.

    Safetensors say at their beginning how long they are, so a file that is still being written, or
    was cut off, is known by its size.
    """
    if path.is_file():
        return None
    index = path / INDEX
    shards = _named(index) if index.is_file() else sorted(p.name for p in _tensors(path))
    for name in shards:
        shard = path / name
        if not shard.is_file():
            return f"{name}, which {INDEX} names, is not there"
        if not is_whole(shard):
            return f"{name} is not whole"
    return None


def _tensors(path: Path) -> Iterator[Path]:
    return path.glob("*.safetensors")


def _named(index: Path) -> list[str]:
    try:
        places = json.loads(read_whole(index, MAX_INDEX))["weight_map"]
        names = sorted(set(places.values()))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise InputError(f"{index.name} is no index of shards") from None
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise InputError(f"{index.name} names no shards, or shards that are no files beside it")
    return names


def is_whole(shard: Path) -> bool:
    """Say whether a file of safetensors is as long as its own header says."""
    size = shard.stat().st_size
    with shard.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 + length or length > MAX_HEADER:
            return False
        try:
            header = json.loads(file.read(length))
            ends = [one["data_offsets"][1] for name, one in header.items() if name[:2] != "__"]
            return bool(size == 8 + length + max(ends, default=0))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError, IndexError):
            return False
