"""`proctor history`: all runs below a folder."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options
from proctor.report import chart as draw
from proctor.report import history as text
from proctor.report import json as as_json
from proctor.results.history import read_history
from proctor.storage.run_directory import write_out


def history(
    folder: Annotated[Path, typer.Argument(help="Folder that runs are below.")] = Path("runs"),
    *,
    benchmark: Annotated[str, typer.Option(help="Only runs of this benchmark.")] = "",
    model: Annotated[str, typer.Option(help="Only models with this in their name.")] = "",
    since: Annotated[str, typer.Option(help="Only runs since then, as in 2026-01-31.")] = "",
    k: Annotated[int, typer.Option("--k", min=1, help="Which pass@k to show.")] = 1,
    chart: Annotated[bool, typer.Option("--chart", help="Draw how scores went.")] = False,
    svg: Annotated[
        Path | None, typer.Option(help="Write a line chart over runs to this file.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List all runs below a folder, the oldest first, unfinished and damaged ones included."""
    found = read_history(folder, benchmark=benchmark, model=model, since=since)
    if svg is not None:
        write_out(svg, draw.svg(found, str(k)))
    if json:
        typer.echo(as_json.render(found))
        return
    typer.echo(text.render(found, str(k)), nl=False)
    if chart:
        typer.echo("\n" + draw.plot(found, str(k)), nl=False)
