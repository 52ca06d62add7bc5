"""The whole report of a run, for the terminal and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from proctor.report import text
from proctor.report.breakdown import Details
from proctor.report.section import Section
from proctor.report.tables import sections
from proctor.report.text import printable
from proctor.results.summary import Summary

WIDEST = 60


def render(summary: Summary, details: Details) -> str:
    """Return a summary and what stands behind it as text."""
    rest = [one for one in sections(summary, details) if not one.in_summary]
    return text.render(summary) + "".join(f"{line}\n" for one in rest for line in lines(one))


def record(summary: Summary, details: Details) -> dict[str, Any]:
    """Return a summary as it is, and beside its figures what stands behind them."""
    return {**msgspec.to_builtins(summary), "details": msgspec.to_builtins(details)}


def _is_usual(row: Sequence[str]) -> bool:
    """Say whether a row tells of a wall that stands: a terminal shows those that do not."""
    return row[0].startswith("wall: ") and row[1] != "not enforced"


def lines(section: Section) -> Iterator[str]:
    """Yield a table with its title for the terminal."""
    yield ""
    yield f"  {section.title}"
    rows = [[printable(cell) for cell in row] for row in section.rows if not _is_usual(row)]
    if any(section.columns):
        rows.insert(0, list(section.columns))
    widths = [min(WIDEST, max(len(row[place]) for row in rows)) for place in range(len(rows[0]))]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield "    " + "  ".join(cells).rstrip()
