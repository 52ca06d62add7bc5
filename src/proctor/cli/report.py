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
    """Sum up a run from its receipts, whether it is finished or not."""
    from proctor.report import json as as_json  # noqa: PLC0415
    from proctor.report import text  # noqa: PLC0415
    from proctor.summary import summarize  # noqa: PLC0415

    summary = summarize(run, ks=o.parse_counts("--k", k), seed=seed)
    typer.echo(as_json.render(summary) if json else text.render(summary), nl=json)
    if summary.degraded:
        raise typer.Exit(1)
