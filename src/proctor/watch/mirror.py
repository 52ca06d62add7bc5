"""Results elsewhere, for those who only read: each is there whole or not at all.

A result is copied to a folder of its own beside its place, flushed, and moved there in one step.
Several watchers may do so at once; the first one's copy stays.
"""

import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from proctor.storage.journal import writing
from proctor.watch.job_state import CHECKPOINT, EVALUATED, RUN, sync_folder

UNFINISHED = ".unfinished"
BLOCK = 1 << 20


def mirror_all(results: Path, mirror: Path) -> list[Path]:
    """Copy every finished result that a mirror does not have; return those that are new in it."""
    finished = sorted(results.glob(f"*/*/{EVALUATED}"))
    return [place for one in finished if (place := _copy(one.parent, results, mirror)) is not None]


def _copy(folder: Path, results: Path, mirror: Path) -> Path | None:
    place = mirror / folder.relative_to(results)
    if place.exists():
        return None
    beside = mirror / UNFINISHED / f"{place.parent.name}.{place.name}.{uuid.uuid4().hex}"
    with writing(place):
        beside.mkdir(parents=True)
        try:
            _copy_file(folder / EVALUATED, beside / EVALUATED)
            _copy_file(folder.parent / CHECKPOINT, beside / CHECKPOINT)
            if (folder / RUN).is_dir():
                _copy_files(folder / RUN, beside / RUN)
            sync_folder(beside)
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                beside.rename(place)
            if not (place / EVALUATED).is_file():
                raise FileNotFoundError(2, "the copy did not arrive there", str(place))
            sync_folder(place.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    _tidy(mirror, place)
    return place


def _tidy(mirror: Path, place: Path) -> None:
    """Remove what those left who were killed while they copied the same."""
    for left in (mirror / UNFINISHED).glob(f"{place.parent.name}.{place.name}.*"):
        shutil.rmtree(left, ignore_errors=True)


def _copy_files(source: Path, target: Path) -> None:
    target.mkdir()
    for file in sorted(source.iterdir()):
        if file.is_file():
            _copy_file(file, target / file.name)
    sync_folder(target)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as there, target.open("xb") as here:
        shutil.copyfileobj(there, here, BLOCK)
        here.flush()
        os.fsync(here.fileno())
