"""A report as one page that needs no server, no network and no script."""

import base64
import hashlib
from collections.abc import Iterator
from html import escape

from proctor.records.verdict import OUTCOMES, Bucket
from proctor.report.breakdown import Details
from proctor.report.run_report import sections
from proctor.report.section import Section
from proctor.report.text import printable
from proctor.results.summary import Summary, failure_reasons

WIDTH, HEIGHT = 640, 14
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; vertical-align: top; }
tr:hover td { background: var(--soft); }
.degraded { border-left: 4px solid #d29922; padding: .4rem .8rem; background: var(--soft); }
svg { width: 100%; height: auto; border-radius: 4px; }
.pass { fill: #2da44e; } .assertion_fail { fill: #cf222e; } .syntax_error { fill: #8250df; }
.timeout { fill: #bf8700; } .error { fill: #953800; } .unscored { fill: #8c959f; }
"""
POLICY = "default-src 'none'; style-src 'sha256-{}'"


def render(summary: Summary, details: Details) -> str:
    """Return the report of a run as a page."""
    return "\n".join(_lines(summary, details)) + "\n"


def _lines(summary: Summary, details: Details) -> Iterator[str]:
    title = _text(f"{summary.benchmark} · {summary.model}")
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(digest)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    yield f"<p>{summary.passed} of {summary.samples} samples passed, {summary.tasks} tasks.</p>"
    if summary.degraded:
        yield f'<p class="degraded">Degraded: {_text("; ".join(failure_reasons(summary)))}.</p>'
    yield from _bar(summary)
    for section in sections(summary, details):
        yield from _section(section)
    yield "</body></html>"


def _bar(summary: Summary) -> Iterator[str]:
    """Draw all samples as one bar, a colour for each outcome."""
    if not summary.samples:
        return
    yield f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="outcomes of all samples">'
    at = 0.0
    for bucket, count in summary.buckets.items():
        width = WIDTH * count / summary.samples
        kind = OUTCOMES[Bucket(bucket)] or "unscored"
        yield (
            f'<rect class="{kind}" x="{at:.2f}" y="0" width="{width:.2f}" height="{HEIGHT}">'
            f"<title>{_text(f'{bucket}: {count}')}</title></rect>"
        )
        at += width
    yield "</svg>"


def _section(section: Section) -> Iterator[str]:
    yield f'<h2>{_text(section.title)}</h2><div class="scroll"><table>'
    if any(section.columns):
        heads = "".join(f"<th>{_text(column)}</th>" for column in section.columns)
        yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in section.rows:
        yield "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


def _text(text: str) -> str:
    return escape(printable(text))
