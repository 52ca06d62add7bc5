"""`proctor compare`: is one run better than another?"""

from pathlib import Path
from typing import Annotated

import typer

from proctor.axes.measure import read_axes
from proctor.cli import options, setup
from proctor.errors import InputError
from proctor.report import comparison as text
from proctor.report import json as as_json
from proctor.report.axes import compare_axes
from proctor.report.section import terminal_lines
from proctor.results.comparison import compare_runs


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run directories.")],
    *,
    k: options.Ks = "",
    json: options.Json = False,
    seed: options.Seed = 0,
) -> None:
    """Compare runs of one benchmark, task by task, and say what is beyond noise."""
    if len(runs) < 2:  # noqa: PLR2004
        raise InputError("compare: name at least two run directories")
    found = compare_runs(runs, ks=setup.parse_counts("--k", k), seed=seed)
    typer.echo(as_json.render(found) if json else text.render(found), nl=json)
    measured = [] if json else [one for one in map(read_axes, runs) if one is not None]
    if measured:
        typer.echo("\n".join(terminal_lines(compare_axes(measured))))
    if any(side.unscored or not side.complete for side in found.runs):
        raise typer.Exit(1)
