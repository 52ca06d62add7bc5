"""What came of running a part of a run again, for the terminal."""

from collections.abc import Iterator

from proctor.grading.verify import RepeatedVerdict, Verified
from proctor.report.text import printable


def render(found: Verified) -> str:
    """Return every verdict that came out differently."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Verified) -> Iterator[str]:
    yield f"{printable(found.benchmark)} · {printable(found.model)}"
    yield ""
    yield f"  {found.samples} of {found.of} samples were run again (seed {found.seed})"
    yield f"  {found.same} verdicts came out the same, {len(found.flakes)} differently"
    if found.unscored:
        yield f"  {found.unscored} could not be judged this time, which says nothing of them"
    for flake in found.flakes:
        yield ""
        yield f"  {printable(flake.task_id)} #{flake.sample}"
        yield f"    before: {_said(flake.before)}"
        yield f"    now:    {_said(flake.now)}"


def _said(said: RepeatedVerdict) -> str:
    why = f": {printable(said.detail)}" if said.detail else ""
    return f"{said.outcome or 'unscored'}/{said.bucket}, {said.tests_passed} tests passed{why}"
