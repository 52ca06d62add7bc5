"""What came of a contract, for the terminal."""

from collections.abc import Iterator

from proctor.contract import Finding, Result, Word
from proctor.report.text import safe

MARKS = {
    Word.HELD: "ok",
    Word.WARNING: "warn",
    Word.DOES_NOT_APPLY: "--",
    Word.UNKNOWN: "?",
    Word.BROKEN: "FAIL",
}
SHOWN = 5


def render(result: Result) -> str:
    """Return one line for each line of the contract, and what follows from them."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Result) -> Iterator[str]:
    sha256 = f"sha256 {result.benchmark_sha256[:16]}…" if result.benchmark_sha256 else "no sha256"
    yield f"{safe(result.benchmark)} · {result.tasks} of {result.of} tasks · {sha256}"
    yield ""
    for finding in result.findings:
        yield from _finding(finding)
    yield ""
    isolated = "isolated" if result.enforcement.isolated else "NOT ISOLATED"
    yield f"  sandbox: {result.enforcement.tier} ({isolated}); {result.seconds:.1f} s"
    yield f"  {standing(result)}"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"  {MARKS[finding.word]:<4} {finding.line:<11} {safe(finding.evidence)}"
    if len(finding.tasks) > 1:
        more = "" if len(finding.tasks) <= SHOWN else " …"
        yield f"{'':<19}{safe(', '.join(finding.tasks[:SHOWN]))}{more}"
    for task_id, why in finding.known.items():
        yield f"{'':<19}known: {safe(task_id)}: {safe(why)}"


def standing(result: Result) -> str:
    """Say whether a benchmark is in rotation, since when and where that was found."""
    when = f"{result.created[:10]} on {safe(result.host)}, {result.enforcement.tier}"
    if result.in_rotation:
        return f"in rotation: it kept its contract ({when})"
    return f"not in rotation: {safe(result.reason)} ({when})"
