"""The four axes of a run, for its pages."""

from functools import lru_cache
from pathlib import Path

from proctor.axes.measure import Axes, SampleAxes, read_axes
from proctor.errors import InputError
from proctor.report.axes import NAMES
from proctor.results.pass_at_k import Estimate
from proctor.storage.run_directory import AXES

KEPT = 8


def axes_of(path: Path, receipts: int) -> Axes | None:
    """Return what was measured of a run; None if nothing was, or not of all that is there now."""
    try:
        changed = (path / AXES).stat().st_mtime_ns
        found = _read(path, changed)
    except (OSError, InputError):
        return None
    return found if found is not None and found.samples == receipts else None


@lru_cache(maxsize=KEPT)
def _read(path: Path, changed: int) -> Axes | None:
    del changed  # by it one tells that the file is another one now
    return read_axes(path)


def rows(axes: Axes) -> list[tuple[str, Estimate]]:
    """Return the axes with their names, in their order."""
    return [(name, getattr(axes, field)) for field, name in NAMES.items()]


def of_sample(axes: Axes | None, task: str, sample: int) -> SampleAxes | None:
    """Return one sample on all axes."""
    every = () if axes is None else axes.details
    return next((one for one in every if (one.task_id, one.sample) == (task, sample)), None)
