"""All runs below the folder, the newest first, and each benchmark's scores over time."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from proctor.results.pass_at_k import Estimate
from proctor.viewer import charts
from proctor.viewer.pages.watched import is_watched
from proctor.viewer.runs import Status
from proctor.viewer.site import READ_SECONDS, Opened, Score, Site, moment

MAX_POINTS = 60


class Card(NamedTuple):
    """The complete runs of one benchmark over time."""

    benchmark: str
    runs: int
    latest: Estimate
    chart: charts.Chart


def render(site: Site) -> str:
    """Return the page."""
    statuses = site.catalogue.statuses(site.wait_seconds)
    rows = [(one, _score(site, one)) for one in sorted(statuses, key=_created, reverse=True)]
    return site.render(
        "home.html",
        title="Runs",
        folder=str(site.catalogue.folder),
        rows=rows,
        cut=site.catalogue.cut,
        cards=_cards(site, rows),
        watched=site.links.watched() if is_watched(site.catalogue.folder) else None,
        refresh=_version(rows),
    )


def version(site: Site) -> str:
    """Return what changes when the list does."""
    return _version([(one, _score(site, one)) for one in site.catalogue.statuses(READ_SECONDS)])


def _version(rows: Sequence[tuple[Status, Score]]) -> str:
    said = sorted(f"{one.run.name} {one.version} {score.note}" for one, score in rows)
    return hashlib.sha256("\n".join(said).encode(errors="replace")).hexdigest()[:16]


def _created(status: Status) -> tuple[str, str]:
    return status.manifest.created if status.manifest else "", status.run.name


def _score(site: Site, status: Status) -> Score:
    if status.manifest is None:
        return Score(None, status.reason)
    if status.headline is not None:
        return Score(status.headline, "")
    index = site.catalogue.index(status.run, status.manifest)
    opened = Opened(status, status.manifest, index)
    return site.score(opened, site.curve(opened, wait=site.links.static))


def _cards(site: Site, rows: Sequence[tuple[Status, Score]]) -> list[Card]:
    series: dict[str, list[tuple[str, Estimate, str | None]]] = {}
    for status, score in reversed(rows):
        if status.manifest is None or score.so_far or score.estimate is None:
            continue
        label = f"{status.manifest.model}, {moment(status.manifest.created)}"
        one = label, score.estimate, site.links.run(status.run.name)
        series.setdefault(status.manifest.benchmark, []).append(one)
    return [
        Card(name, len(runs), runs[-1][1], charts.sparkline(runs[-MAX_POINTS:]))
        for name, runs in sorted(series.items())
    ]
