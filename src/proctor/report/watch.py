"""How checkpoints that are watched stand, for the terminal."""

from collections.abc import Iterator
from itertools import groupby

from proctor.report.text import format_percent, printable
from proctor.watch.job_state import Known
from proctor.watch.status import Status


def render(status: Status) -> str:
    """Return one line for each job, below its checkpoint."""
    return "\n".join(_lines(status)) + "\n"


def _lines(status: Status) -> Iterator[str]:
    yield f"results: {printable(status.results)}"
    yield ""
    for name, why in status.rotation.items():
        standing = f"not in rotation: {printable(why)}" if why else "in rotation"
        yield f"  {printable(name)}: {standing}"
    for checkpoint, jobs in groupby(status.jobs, key=lambda job: job.checkpoint):
        yield ""
        yield f"  {printable(checkpoint.path)}  ({checkpoint.fingerprint[:12]})"
        for job in jobs:
            yield f"    {printable(job.benchmark):<20} {job.standing:<10} {_said(job)}".rstrip()
    if status.incomplete:
        yield ""
        for path, why in status.incomplete.items():
            yield f"  not yet: {printable(path)}: {printable(why)}"


def _said(job: Known) -> str:
    if job.evaluated is not None:
        first = next(iter(job.evaluated.pass_at_k.items()), None)
        figure = f"pass@{first[0]} {format_percent(first[1])}" if first else ""
        return "; ".join(filter(None, (figure, printable(job.reason))))
    if job.held_by is not None:
        return f"{job.reason}: {printable(job.held_by)}, attempt {job.attempt}"
    return f"after a failure: {printable(job.reason)}" if job.reason else ""
