"""One run: its figures, the matrix of tasks and samples, and a list of either."""

from typing import Any, NamedTuple

from proctor.records.verdict import OUTCOMES, Bucket
from proctor.viewer import charts
from proctor.viewer.axes import axes_of, rows
from proctor.viewer.background_figures import Curve
from proctor.viewer.index_queries import ORDERS
from proctor.viewer.runs import Standing
from proctor.viewer.site import Opened, Site, word

PAGE = 100
"""Rows of a list on one page."""
MAX_ROWS = 1000
"""Tasks of the matrix that are sent at once."""


class Bar(NamedTuple):
    """One bucket of a run."""

    bucket: Bucket
    outcome: str
    number: int
    before: float
    """Share of the samples in buckets before it, in percent."""
    share: float
    """Share of its own samples, in percent."""


def render(
    site: Site, name: str, *, order: str = "", wanted: str = "", bucket: str = "", page: int = 1
) -> str:
    """Return the page."""
    opened = site.open(name)
    status, manifest, lookup = opened.status, opened.manifest, opened.index.lookup
    curve = site.curve(opened)
    found = axes_of(status.run.path, status.extent.receipts)
    order = order if order in ORDERS else "order"
    chosen = Bucket(bucket) if bucket in set(Bucket) else None
    start, listed = (max(1, page) - 1) * PAGE, None
    if chosen is None:
        total, tasks = lookup.rows(order, wanted, start, PAGE)
    else:
        total, listed = lookup.in_bucket(chosen, start, PAGE)
        tasks = []
    return site.render(
        "run.html",
        title=f"{manifest.benchmark} · {manifest.model}",
        status=status,
        manifest=manifest,
        extent=lookup.extent(),
        score=site.score(opened, curve),
        curve=curve,
        chart=charts.curve(curve.points) if curve is not None else None,
        bars=_bars(opened, manifest.samples),
        damage=lookup.damage(),
        axes=found,
        axis_rows=[] if found is None else rows(found),
        order=order,
        orders=list(ORDERS),
        wanted=wanted,
        chosen=chosen,
        tasks=tasks,
        samples=listed,
        total=total,
        page=max(1, page),
        pages=max(1, -(-total // PAGE)),
        embedded=embedded(site, opened) if site.links.static else None,
        refresh=version(opened, curve),
    )


def _bars(opened: Opened, samples: int) -> list[Bar]:
    bars: list[Bar] = []
    before = 0.0
    for bucket, number in opened.index.lookup.buckets().items():
        share = 100 * number / max(samples, opened.status.extent.receipts)
        bars.append(Bar(bucket, word(OUTCOMES[bucket]), number, before, share))
        before += share
    return bars


def version(opened: Opened, curve: Curve | None) -> str | None:
    """Return the version of a page that may change, None for one that will not."""
    version = opened.status.version
    if curve is None:
        return f"{version}-waiting"
    if opened.status.standing in (Standing.RUNNING, Standing.READING):
        return f"{version}-{curve.receipts}-{len(curve.points)}"
    settled = curve.version == opened.status.version and curve.whole
    return None if settled else f"{version}-waiting-{len(curve.points)}"


def progress(site: Site, name: str) -> dict[str, Any]:
    """Say how far a run is, in few bytes."""
    opened = site.open(name)
    return {
        "version": version(opened, site.curve(opened, wait=False)),
        "standing": opened.status.standing,
        "receipts": opened.status.extent.receipts,
        "samples": opened.manifest.samples,
    }


def matrix(
    site: Site, name: str, *, order: str = "", wanted: str = "", start: int = 0, count: int = 100
) -> dict[str, Any]:
    """Return some rows of the matrix, a letter a sample."""
    lookup = site.open(name, read=False).index.lookup
    total, rows = lookup.rows(
        order if order in ORDERS else "order", wanted, max(0, start), min(count, MAX_ROWS)
    )
    return {
        "total": total,
        "columns": lookup.extent().columns,
        "rows": [[row.name, row.cells] for row in rows],
    }


def embedded(site: Site, opened: Opened) -> dict[str, Any]:
    """Return the matrix for a page that cannot ask for it, with where its samples are."""
    made = matrix(site, opened.status.run.name, count=MAX_ROWS)
    name = opened.status.run.name
    for row in made["rows"]:
        task, cells = row
        row.append([site.links.sample(name, task, place) or "" for place in range(len(cells))])
    return made
