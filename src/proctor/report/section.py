"""A table with a title, as lines for a terminal, and an estimate as its cells."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.report.text import printable
from proctor.results.pass_at_k import Estimate

MAX_WIDTH = 60
"""Columns of a terminal for one cell; longer ones push the rest of their row to the right."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A table with a title. Its texts are as hostile as models are: a format escapes them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    in_summary: bool = False
    """Whether the short summary shows the same figures."""


def format_figures(figure: Estimate) -> tuple[str, str, str, str, str]:
    """Return an estimate as cells: value, interval, tasks, tasks left out, method."""
    value = "none" if figure.value is None else f"{100 * figure.value:.1f} %"
    interval = "none"
    if figure.low is not None and figure.high is not None:
        interval = f"{100 * figure.low:.1f} to {100 * figure.high:.1f}"
    return value, interval, str(figure.tasks), str(figure.left_out), figure.method


def terminal_lines(section: Section) -> Iterator[str]:
    """Yield a table with its title for the terminal."""
    yield ""
    yield f"  {section.title}"
    rows = [[printable(cell) for cell in row] for row in section.rows if not _is_enforced(row)]
    if any(section.columns):
        rows.insert(0, list(section.columns))
    widths = [min(MAX_WIDTH, max(len(row[place]) for row in rows)) for place in range(len(rows[0]))]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield "    " + "  ".join(cells).rstrip()


def _is_enforced(row: Sequence[str]) -> bool:
    """Return True for a limit that is enforced: a terminal shows only those that are not."""
    return row[0].startswith("wall: ") and row[1] != "not enforced"
