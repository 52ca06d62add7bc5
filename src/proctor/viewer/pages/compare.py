"""Several runs of one benchmark: which is better, whether that is noise, which tasks flipped."""

from collections.abc import Sequence
from typing import NamedTuple

from proctor.errors import InputError
from proctor.results.comparison import Comparisons, Pair
from proctor.results.pass_at_k import Estimate
from proctor.results.stats import Comparison
from proctor.viewer.axes import axes_of, rows
from proctor.viewer.runs import Standing
from proctor.viewer.site import Opened, Site

MIN_RUNS, MAX_RUNS = 2, 8
MAX_FLIPPED = 200
"""Tasks listed for each direction."""


class End(NamedTuple):
    """What one run made of a task."""

    said: str
    """How many samples passed, of how many that are scored."""
    address: str | None


class Flip(NamedTuple):
    """A task on which one run did better than the other."""

    task: str
    first: End
    second: End
    diff: str | None
    """Where the first sample of each run stands beside that of the other."""


class Shown(NamedTuple):
    """Two runs and what they differ in."""

    pair: Pair
    k: str
    figures: Comparison
    beyond_noise: bool
    gained: Sequence[Flip]
    lost: Sequence[Flip]


def render(site: Site, names: Sequence[str]) -> str:
    """Return the page."""
    if not MIN_RUNS <= len(set(names)) <= MAX_RUNS:
        raise InputError(f"choose from {MIN_RUNS} to {MAX_RUNS} different runs to compare")
    runs = [site.open(name) for name in dict.fromkeys(names)]
    for run in runs:
        if run.status.standing is Standing.CORRUPT:
            raise InputError(f"{run.status.run.name} cannot be compared. {run.status.reason}")
    made = site.figures.comparison([run.status for run in runs], site.figure_seconds)
    return site.render(
        "compare.html",
        title="Comparison",
        runs=runs,
        made=made,
        shown=[] if made is None else _shown(site, runs, made),
        axes=_axes(runs),
        most=MAX_FLIPPED,
        refresh="waiting" if made is None else None,
    )


def _axes(runs: Sequence[Opened]) -> list[tuple[Opened, list[tuple[str, Estimate]]]]:
    """Return the axes of those runs that have them."""
    found = []
    for run in runs:
        axes = axes_of(run.status.run.path, run.status.extent.receipts)
        if axes is not None:
            found.append((run, rows(axes)))
    return found


def _shown(site: Site, runs: Sequence[Opened], made: Comparisons) -> list[Shown]:
    found = []
    for pair in made.pairs:
        k = next(iter(pair.by_k))
        figures = pair.by_k[k]
        sides = runs[pair.first], runs[pair.second]
        gained, lost = (
            [_flip(site, sides, task) for task in tasks[:MAX_FLIPPED]]
            for tasks in (figures.gained, figures.lost)
        )
        found.append(Shown(pair, k, figures, pair.beyond_noise[k], gained, lost))
    return found


def _flip(site: Site, sides: Sequence[Opened], task: str) -> Flip:
    (one, first), (other, second) = (_end(site, side, task) for side in sides)
    names = [side.status.run.name for side in sides]
    return Flip(task, one, other, site.links.diff(names[0], task, first, second, names[1]))


def _end(site: Site, side: Opened, task: str) -> tuple[End, int]:
    """Return what a run made of a task, and the number of its first sample."""
    row = side.index.lookup.task(task)
    if row is None or row.first is None:
        return End("none", None), 0
    address = site.links.sample(side.status.run.name, task, row.first)
    return End(f"{row.passed} / {row.n - row.unscored}", address), row.first
