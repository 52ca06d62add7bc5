"""A report in Markdown, for a pull request or a page. Nothing in it can become markup."""

import re
from collections.abc import Iterator, Sequence

from proctor.report.breakdown import Details
from proctor.report.run_report import sections
from proctor.report.section import Section
from proctor.report.text import printable
from proctor.results.summary import Summary, failure_reasons

SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&^$:-])")
"""What means something to some dialect of Markdown; `:` makes links."""


def escape(text: str) -> str:
    """Return text that every dialect of Markdown shows as it is."""
    # No backslash keeps a name after @ from being told that it was named; a break in it does.
    return SPECIAL.sub(r"\\\1", printable(text)).replace("@", "@\u200b")


def render(summary: Summary, details: Details) -> str:
    """Return the report of a run."""
    return "\n".join(_lines(summary, details)) + "\n"


def _lines(summary: Summary, details: Details) -> Iterator[str]:
    yield f"# {escape(summary.benchmark)} · {escape(summary.model)}"
    yield ""
    yield f"{summary.passed} of {summary.samples} samples passed, {summary.tasks} tasks."
    if summary.degraded:
        yield ""
        yield f"**Degraded**: {'; '.join(failure_reasons(summary))}."
    for section in sections(summary, details):
        yield ""
        yield f"## {section.title}"
        yield ""
        yield from _table(section)


def _table(section: Section) -> Iterator[str]:
    yield _row(section.columns)
    yield "|" + " --- |" * len(section.columns)
    for row in section.rows:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape(cell) for cell in cells) + " |"
