"""All commands."""

from typing import Annotated

import typer

from proctor.cli.benchmarks import benchmarks
from proctor.cli.doctor import doctor
from proctor.cli.execute import execute
from proctor.cli.report import report
from proctor.cli.run import run
from proctor.cli.score import score

app = typer.Typer(
    name="proctor",
    help="Run code that language models wrote, decide honestly whether it works, "
    "and say how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("score")(score)
app.command("exec")(execute)
app.command("report")(report)
app.command("benchmarks")(benchmarks)
app.command("doctor")(doctor)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it
    if wanted:
        from importlib import metadata  # noqa: PLC0415

        typer.echo(f"proctor {metadata.version('proctor')}")
        raise typer.Exit


@app.callback()
def callback(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Take options that belong to no command."""
