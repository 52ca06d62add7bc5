"""`proctor bench`: how fast this host is."""

from typing import Annotated

import typer

from proctor.cli import options as o
from proctor.errors import InputError

bench = typer.Typer(help="Measure how fast this host is.", no_args_is_help=True)

Counts = Annotated[str, typer.Option("--workers", help="Numbers of workers, as in 1,2,4.")]
Seconds = Annotated[float, typer.Option(min=0.1, max=600, help="How long to measure each row.")]
HEADER = f"{'tier':<11}{'work':<10}{'workers':>7}{'per s':>9}{'p50 ms':>9}{'p95 ms':>9}{'MiB':>8}"


@bench.callback()
def callback() -> None:
    """Measure how fast this host is."""


@bench.command()
def sandbox(
    *,
    sandbox: o.SandboxName = None,
    workers: Counts = "",
    seconds: Seconds = 2.0,
    python: o.Python = o.DEFAULT_PYTHON,
    json: o.Json = False,
) -> None:
    """Measure candidates a second, by tier, workers and kind of work, beside bare subprocesses."""
    from proctor.bench import measure, working_tiers  # noqa: PLC0415
    from proctor.report import json as as_json  # noqa: PLC0415
    from proctor.sandbox.choose import ORDER  # noqa: PLC0415
    from proctor.settings import default_workers  # noqa: PLC0415

    counts = o.parse_counts("--workers", workers) or sorted({1, default_workers()})
    if sandbox is not None and sandbox not in ORDER:
        raise InputError(f"--sandbox {sandbox}: known are {', '.join(ORDER)}")
    tiers = working_tiers(python) if sandbox is None else [sandbox]
    rates = []
    if not json:
        typer.echo(f"{HEADER}  against a bare subprocess")
    for rate in measure(tiers, counts, seconds, python):
        rates.append(rate)
        memory = "" if rate.memory_mib is None else f"{rate.memory_mib:.1f}"
        ratio = "" if rate.times_subprocess is None else f"{rate.times_subprocess:.1f}x"
        line = (
            f"{rate.tier:<11}{rate.work:<10}{rate.workers:>7}{rate.per_second:>9.1f}"
            f"{rate.p50_ms:>9.2f}{rate.p95_ms:>9.2f}{memory:>8}  {ratio}"
        )
        typer.echo(line.rstrip(), err=json)
    if json:
        typer.echo(as_json.render({"rates": rates}))
