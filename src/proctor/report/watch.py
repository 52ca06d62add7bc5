"""How checkpoints that are watched stand, for the terminal."""

from collections.abc import Iterator
from itertools import groupby

from proctor.report.text import percent, safe
from proctor.watch.state import Known
from proctor.watch.status import Status


def render(status: Status) -> str:
    """Return one line for each job, below its checkpoint."""
    return "\n".join(_lines(status)) + "\n"


def _lines(status: Status) -> Iterator[str]:
    yield f"results: {safe(status.results)}"
    yield ""
    for name, why in status.rotation.items():
        yield f"  {safe(name)}: {f'not in rotation: {safe(why)}' if why else 'in rotation'}"
    for checkpoint, jobs in groupby(status.jobs, key=lambda job: job.checkpoint):
        yield ""
        yield f"  {safe(checkpoint.path)}  ({checkpoint.fingerprint[:12]})"
        for job in jobs:
            yield f"    {safe(job.benchmark):<20} {job.standing:<10} {_said(job)}".rstrip()
    if status.incomplete:
        yield ""
        for path, why in status.incomplete.items():
            yield f"  not yet: {safe(path)}: {safe(why)}"


def _said(job: Known) -> str:
    if job.evaluated is not None:
        first = next(iter(job.evaluated.pass_at_k.items()), None)
        figure = f"pass@{first[0]} {percent(first[1])}" if first else ""
        return "; ".join(filter(None, (figure, safe(job.reason))))
    if job.held_by is not None:
        return f"{job.reason}: {safe(job.held_by)}, attempt {job.attempt}"
    return f"after a failure: {safe(job.reason)}" if job.reason else ""
