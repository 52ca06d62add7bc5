"""`proctor failures`: what went wrong, and how often."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options
from proctor.report import failures as text
from proctor.report import json as as_json
from proctor.results.failures import find_failures


def failures(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    top: Annotated[int, typer.Option(min=1, help="Show so many kinds of failures.")] = 15,
    json: options.Json = False,
) -> None:
    """Gather what did not pass by bucket, exception and message."""
    found = find_failures(run)
    typer.echo(as_json.render(found) if json else text.render(found, top), nl=json)
