"""What a gate found: for the terminal, and as a badge."""

from collections.abc import Iterator
from html import escape

from proctor.checks.qa.gate import Gate, GateResult
from proctor.report.text import format_percent, printable

MARKS = {True: "ok", False: "FAIL", None: "--"}
GREEN, RED, GREY = "#1a7f37", "#cf222e", "#57606a"
LETTER = 6.6
"""Width of a letter of the badge, about."""
LONGEST = 60


def render(checked: GateResult) -> str:
    """Return one line for everything that was looked at, and the last word."""
    return "\n".join(_lines(checked)) + "\n"


def _lines(checked: GateResult) -> Iterator[str]:
    for gate in checked.gates:
        yield from _gate(gate)
        yield ""
    for name, why in checked.missing.items():
        yield f"  FAIL {printable(name)}: {printable(why)}"
    failed = sum(line.passed is False for gate in checked.gates for line in gate.lines)
    failed += len(checked.missing)
    yield "  passed" if checked.passed else f"  NOT PASSED: {failed} lines fail"


def _gate(gate: Gate) -> Iterator[str]:
    yield f"{printable(gate.benchmark)} · {printable(gate.model)}"
    for k, figure in gate.pass_at_k.items():
        yield f"  pass@{k}  {format_percent(figure)}"
    yield ""
    for line in gate.lines:
        yield f"  {MARKS[line.passed]:<4} {printable(line.line):<11} {printable(line.evidence)}"


def badge(checked: GateResult) -> str:
    """Return a small picture that says whether it passed, and with which figures."""
    left = "proctor qa"
    figures = [_figure(gate) for gate in checked.gates] if checked.passed else []
    word = "passed" if checked.passed else "not passed"
    right = printable(" · ".join(filter(None, [word, *figures])))
    right = right if len(right) <= LONGEST else right[: LONGEST - 1] + "…"
    ends = 10 + LETTER * len(left), 20 + LETTER * (len(left) + len(right))
    colour = GREEN if checked.passed else RED
    label = escape(f"{left}: {right}")
    middle = (5 + LETTER * len(left) / 2, (ends[0] + ends[1]) / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{ends[1]:.0f}" height="20" role="img" '
        f'aria-label="{label}"><title>{label}</title>'
        f'<rect width="{ends[1]:.0f}" height="20" rx="3" fill="{colour}"/>'
        f'<path d="M3 0H{ends[0]:.0f}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0" fill="{GREY}"/>'
        f'<g fill="#fff" font-family="sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{middle[0]:.0f}" y="14">{escape(left)}</text>'
        f'<text x="{middle[1]:.0f}" y="14">{escape(right)}</text></g></svg>\n'
    )


def _figure(gate: Gate) -> str:
    first = next(iter(gate.pass_at_k.items()), None)
    if first is None or first[1].value is None:
        return ""
    return f"{gate.benchmark} pass@{first[0]} {100 * first[1].value:.1f} %"
