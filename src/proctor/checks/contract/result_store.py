"""Where results of contracts are kept: in a folder of the user's, by what they speak of.

    ~/.local/state/proctor/contracts/BENCHMARK/DIGEST.json

The digest is of the tasks, of Proctor's version and of the host, so that a result never speaks for
other tasks, another Proctor or another machine. A partial result proves nothing and is not kept.
"""

import hashlib
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from importlib import metadata
from pathlib import Path

import msgspec

from proctor.checks.contract.result import SCHEMA, Result
from proctor.errors import InputError, boundary
from proctor.records.task import Benchmark
from proctor.storage.home import home
from proctor.storage.jsonl import file_sha256, read_whole
from proctor.storage.run_directory import pretty, write_whole

MAX_BYTES = 16 << 20


def folder() -> Path | None:
    """Return where results are kept, None for a user without a home."""
    return home(".local", "state", "proctor", "contracts")


def store_result(result: Result) -> Path | None:
    """Write a result down, unless it is partial; return where."""
    place = folder()
    if result.partial or place is None:
        return None
    digest = result.benchmark_sha256 or hashlib.sha256(repr(result.files).encode()).hexdigest()
    path = place / _plain(result.benchmark) / f"{_key(digest)}.json"
    with boundary(InputError, f"cannot keep {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, pretty(result))
    return path


def latest_result(benchmark: Benchmark, within: timedelta | None = None) -> Result | None:
    """Return what is known of these very tasks on this host, if it is not older than asked."""
    place = folder()
    if place is None:
        return None
    path = place / _plain(benchmark.name) / f"{_key(benchmark.sha256)}.json"
    result = _read(path)
    if result is None or result.benchmark_sha256 != benchmark.sha256:
        return None
    return result if within is None or result.is_fresh(within) else None


def why_not(benchmark: Benchmark, asked: str, within: timedelta) -> str:
    """Say why a benchmark cannot be relied on here, nothing if it can."""
    result = latest_result(benchmark)
    mend = f"run proctor contract {asked}"
    if result is None:
        return f"nothing is known of its contract on this host; {mend}"
    if not result.in_rotation:
        return result.reason
    if not result.is_fresh(within):
        return f"it kept its contract on {result.created[:10]}, too long ago; {mend}"
    return ""


def latest_result_of_files(name: str, files: Callable[[], Sequence[Path]]) -> Result | None:
    """Return the newest result that speaks of files with this content, wherever they lay.

    To know a benchmark's own digest all of its tasks would have to be read. Files are only asked
    for, and only read, where there is a result.
    """
    every = list(_all(name))
    if not every:
        return None
    digests = sorted(map(file_sha256, files()))
    found = [one for one in every if sorted(one.files.values()) == digests]
    return max(found, key=lambda one: one.created, default=None)


def _all(name: str) -> Iterator[Result]:
    place = folder()
    for path in sorted((place / _plain(name)).glob("*.json")) if place is not None else ():
        result = _read(path)
        if result is not None and (result.host, result.versions.get("proctor")) == _here():
            yield result


def _read(path: Path) -> Result | None:
    """Return a result; a file that cannot be read proves nothing."""
    try:
        result = msgspec.json.decode(read_whole(path, MAX_BYTES), type=Result)
    except (InputError, ValueError, RecursionError):
        return None
    return result if result.schema == SCHEMA else None


def _here() -> tuple[str, str]:
    return socket.gethostname(), metadata.version("proctor")


def _key(sha256: str) -> str:
    return hashlib.sha256("\0".join((sha256, *_here())).encode()).hexdigest()[:32]


def _plain(name: str) -> str:
    """Return a name that a folder can have."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", name)[:80].lstrip(".") or "_"
