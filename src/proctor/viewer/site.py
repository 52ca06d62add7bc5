"""What all pages share: runs, links, figures, and the templates that escape whatever they show."""

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from proctor.errors import InputError
from proctor.records.receipt import Manifest
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.results.pass_at_k import Estimate
from proctor.viewer.background_figures import BackgroundFigures, Curve
from proctor.viewer.index import Index
from proctor.viewer.index_writer import BUCKETS, CODES
from proctor.viewer.prompts import Prompts
from proctor.viewer.runs import RunCatalog, Standing, Status
from proctor.viewer.urls import Links

HERE = Path(__file__).parent
READ_SECONDS = 0.4
"""How long a page reads on before it shows what there is."""
FIGURE_SECONDS = 0.15
"""How long it waits for figures that it has none of yet."""
LONGEST_TEXT = 64 << 10
KIB = 1024
EXPORT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'"
)
"""What a page that is a file may load; the server says it in a header."""


class Score(NamedTuple):
    """pass@1 of a run, or why there is none."""

    estimate: Estimate | None
    note: str
    so_far: bool = False
    """Whether samples are still missing."""


class Opened(msgspec.Struct, frozen=True):
    """One run to be looked at."""

    status: Status
    manifest: Manifest
    index: Index


class Site:
    """Safe for use by several threads."""

    def __init__(self, catalogue: RunCatalog, links: Links) -> None:
        self.catalogue, self.links = catalogue, links
        self.figures, self.prompts = BackgroundFigures(), Prompts()
        self.wait_seconds = float("inf") if links.static else READ_SECONDS
        self.figure_seconds = None if links.static else FIGURE_SECONDS
        """An export has the time to wait for everything."""
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_bounded,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        letters = zip(map(chr, CODES), BUCKETS, strict=True)
        self._templates.globals |= {
            "links": links,
            "policy": EXPORT_POLICY,
            "outcomes": [word(outcome) for outcome in (*Outcome, None)],
            "letters": {letter: (word(OUTCOMES[one]), str(one)) for letter, one in letters},
            "outcome_of": lambda bucket: word(OUTCOMES[Bucket(bucket)]),
        }
        self._templates.filters |= {
            "moment": moment,
            "percent": percent,
            "size": size,
            "seconds": seconds,
            "number": number,
        }

    def render(self, template: str, **context: Any) -> str:
        """Fill in a template; `refresh` is the version of a page that may change."""
        return self._templates.get_template(template).render({"refresh": None, **context})

    def trouble(self, title: str, message: str) -> str:
        """Say that there is nothing to show, and why."""
        return self.render("trouble.html", title=title, message=message)

    def open(self, name: str, *, read: bool = True) -> Opened:
        """Return a run and its index; a run without a manifest has nothing to show."""
        run = self.catalogue.run(name)
        status = self.catalogue.status(run, self.wait_seconds if read else 0.0)
        if status.manifest is None:
            raise InputError(status.reason)
        return Opened(status, status.manifest, self.catalogue.index(run, status.manifest))

    def curve(self, opened: Opened, *, wait: bool = True) -> Curve | None:
        """Return the newest curve of a run, None if there will be one."""
        seconds = self.figure_seconds if wait else 0.0
        return self.figures.curve(opened.index, opened.status, seconds)

    def score(self, opened: Opened, curve: Curve | None) -> Score:
        """Return a run's pass@1: never a number where there is none."""
        status = opened.status
        if status.standing in (Standing.CORRUPT, Standing.READING):
            return Score(None, status.reason)
        if status.headline is not None:
            return Score(status.headline, "")
        complete = status.standing is Standing.COMPLETE
        if curve is None or (complete and curve.version != status.version):
            return Score(None, "being estimated")
        if not curve.points:
            return Score(None, curve.note)
        return Score(curve.points[0].estimate, "", not complete)


def _bounded(value: Any) -> Any:
    """Cut a text that has no business to be so long; what is HTML already was bounded before."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT and not hasattr(value, "__html__"):
        return f"{value[:LONGEST_TEXT]}… ({len(value) - LONGEST_TEXT} more characters)"
    return value


def word(outcome: Outcome | None) -> str:
    """Return an outcome's name, which is also the name of its colour."""
    return "unscored" if outcome is None else str(outcome)


def moment(text: str) -> str:
    """Return a time as people write it; what is none stays as it is."""
    try:
        return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text[:40]


def percent(share: float | None) -> str:
    """Return a share of 1 with one place."""
    return "—" if share is None else f"{100 * share:.1f} %"


def number(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}".replace(",", " ")


def size(value: float | None) -> str:
    """Return so many bytes in the unit that makes them readable."""
    if value is None:
        return "—"
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= KIB and len(units) > 1:
        value, units = value / KIB, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "B" else f"{value:.1f} {units[0]}"


def seconds(value: float | None) -> str:
    """Return a time in the unit that makes it readable."""
    if value is None:
        return "—"
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.1f} ms"
