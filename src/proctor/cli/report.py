"""`proctor report`: look at a run again."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options as o


def report(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    k: o.Ks = "",
    json: o.Json = False,
    seed: o.Seed = 0,
) -> None:
    """Sum up a run from its receipts: finished, interrupted or degraded, for what it is."""
    import msgspec  # noqa: PLC0415

    from proctor.report.text import render  # noqa: PLC0415
    from proctor.summary import summarize  # noqa: PLC0415

    summary = summarize(run, ks=o.parse_ks(k), seed=seed)
    typer.echo(msgspec.json.encode(summary).decode() if json else render(summary), nl=json)
    if summary.degraded:
        raise typer.Exit(1)
