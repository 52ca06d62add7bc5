"""`proctor watch`: evaluate every new checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import complain
from proctor.cli import options as o
from proctor.cli.commands.watching import look, watch_on
from proctor.errors import InputError
from proctor.report import json as as_json
from proctor.report import watch as text
from proctor.watch.config import read_config

DEGRADED = 1


def watch(
    config: Annotated[Path, typer.Argument(help="TOML file: what to watch, and what to ask.")],
    *,
    once: Annotated[
        bool, typer.Option("--once", help="End when nothing is left of what is there now.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only say how everything stands.")
    ] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Copy finished results here, each whole or not at all."),
    ] = None,
    json: o.Json = False,
) -> None:
    """Evaluate new checkpoints as they appear; several watchers may share the work."""
    if status and (once or mirror is not None):
        raise InputError("--status only looks, so it goes with neither --once nor --mirror")
    read = read_config(config)
    found = look(read) if status else watch_on(read, once=once, mirror=mirror, say=complain)
    typer.echo(as_json.render(found) if json else text.render(found), nl=json)
    if found.degraded:
        raise typer.Exit(DEGRADED)
