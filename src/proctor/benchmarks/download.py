"""Fetch a benchmark's file from its publisher, when asked, and keep only the right one."""

import gzip
import hashlib
import urllib.request
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import IO, cast

from proctor.benchmarks import cache_folder
from proctor.benchmarks.source import Source
from proctor.errors import InputError, boundary
from proctor.storage.jsonl import read_bounded

MAX_BYTES = 1 << 30
TIMEOUT_SECONDS = 60


def download(source: Source, folder: Path | None = None) -> Path:
    """Return the path of the file, fetched and checked against its sha256."""
    if source.url is None:
        raise InputError(f"{source.name}: comes with proctor, there is nothing to fetch")
    if source.sha256 is None:
        raise InputError(
            f"{source.name}: there is no digest to check a download by; "
            f"get it from {source.url} and name it by --data"
        )
    folder = folder or cache_folder()
    if folder is None:
        raise InputError(f"{source.name}: there is no home folder to keep {source.file} in")
    try:
        with urllib.request.urlopen(source.url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            packed = source.url.endswith(".gz")
            file = cast("IO[bytes]", gzip.GzipFile(fileobj=answer) if packed else answer)
            content = read_bounded(source.url, file, MAX_BYTES)
    except (OSError, EOFError, HTTPException, zlib.error) as error:
        raise InputError(
            f"{source.name}: cannot fetch {source.url}: {error}; "
            f"fetch it by other means and name it by --data"
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        raise InputError(
            f"{source.name}: {source.url} has sha256 {digest}, not {source.sha256}; not kept"
        )
    place = folder / source.file
    with boundary(InputError, f"cannot write {place}"):
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(place.name + ".new")
        try:
            beside.write_bytes(content)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    return place
