"""How checkpoints that are watched stand, one row a checkpoint and benchmark."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from proctor.errors import InputError
from proctor.results.pass_at_k import Estimate
from proctor.viewer.site import Site
from proctor.watch.job_state import RUN, Known, Standing, known_jobs

MAX_JOBS = 2000
COLOURS = {
    Standing.WAITING: "interrupted",
    Standing.RUNNING: "running",
    Standing.DONE: "complete",
    Standing.DEGRADED: "degraded",
    Standing.TIMED_OUT: "degraded",
    Standing.FAILED: "corrupt",
}
"""What a standing looks like: as that of a run."""


class Row(NamedTuple):
    """One job."""

    job: Known
    colour: str
    k: str
    estimate: Estimate | None
    address: str | None
    """Of its run, if it has one that has a page."""


def is_watched(folder: Path) -> bool:
    """Say whether watchers keep their results in a folder."""
    return next(known_jobs(folder), None) is not None


def render(site: Site) -> str:
    """Return the page."""
    folder = site.catalogue.folder
    jobs = list(islice(known_jobs(folder), MAX_JOBS + 1))
    if not jobs:
        raise InputError(f"no watcher keeps its results in {folder}")
    rows = [_row(site, job) for job in jobs[:MAX_JOBS]]
    return site.render(
        "watched.html",
        title="Checkpoints",
        rows=rows,
        counts=_counts(rows),
        cut=len(jobs) > MAX_JOBS,
        refresh="live",
    )


def _counts(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    every = [row.job.standing for row in rows]
    return [(str(one), COLOURS[one], every.count(one)) for one in Standing if one in every]


def _row(site: Site, job: Known) -> Row:
    k, estimate, address = "", None, None
    if job.evaluated is not None:
        k, estimate = next(iter(job.evaluated.pass_at_k.items()), ("", None))
        if job.evaluated.run is not None:
            run = Path(job.folder, RUN).relative_to(site.catalogue.folder).as_posix()
            address = site.links.run(run)
    return Row(job, COLOURS[job.standing], k, estimate, address)
