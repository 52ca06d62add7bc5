"""What came of a contract, for the terminal."""

from collections.abc import Iterator

from proctor.checks.contract.result import Finding, Result, Status
from proctor.report.text import printable

MARKS = {
    Status.HELD: "ok",
    Status.WARNING: "warn",
    Status.DOES_NOT_APPLY: "--",
    Status.UNKNOWN: "?",
    Status.BROKEN: "FAIL",
}
SHOWN = 5


def render(result: Result) -> str:
    """Return one line for each line of the contract, and what follows from them."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Result) -> Iterator[str]:
    sha256 = f"sha256 {result.benchmark_sha256[:16]}…" if result.benchmark_sha256 else "no sha256"
    yield f"{printable(result.benchmark)} · {result.tasks} of {result.of} tasks · {sha256}"
    yield ""
    for finding in result.findings:
        yield from _finding(finding)
    yield ""
    isolated = "isolated" if result.enforcement.isolated else "NOT ISOLATED"
    yield f"  sandbox: {result.enforcement.tier} ({isolated}); {result.seconds:.1f} s"
    yield f"  {standing(result)}"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"  {MARKS[finding.word]:<4} {finding.line:<11} {printable(finding.evidence)}"
    if len(finding.tasks) > 1:
        more = "" if len(finding.tasks) <= SHOWN else " …"
        yield f"{'':<19}{printable(', '.join(finding.tasks[:SHOWN]))}{more}"
    for task_id, why in finding.known.items():
        yield f"{'':<19}known: {printable(task_id)}: {printable(why)}"


def standing(result: Result) -> str:
    """Say whether a benchmark is in rotation, since when and where that was found."""
    when = f"{result.created[:10]} on {printable(result.host)}, {result.enforcement.tier}"
    if result.in_rotation:
        return f"in rotation: it kept its contract ({when})"
    return f"not in rotation: {printable(result.reason)} ({when})"
