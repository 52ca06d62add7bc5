"""All commands."""

import os
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from proctor.cli import INTERRUPTED, complain
from proctor.cli.commands.axes import axes
from proctor.cli.commands.bench import bench
from proctor.cli.commands.benchmarks import benchmarks
from proctor.cli.commands.compare import compare
from proctor.cli.commands.contract import contract
from proctor.cli.commands.convert import convert
from proctor.cli.commands.doctor import doctor
from proctor.cli.commands.evalplus import evalplus
from proctor.cli.commands.exec import execute
from proctor.cli.commands.failures import failures
from proctor.cli.commands.generate import generate_command
from proctor.cli.commands.history import history
from proctor.cli.commands.keys import keys
from proctor.cli.commands.mcp import mcp
from proctor.cli.commands.parity import parity
from proctor.cli.commands.perplexity import perplexity
from proctor.cli.commands.prompts import prompts
from proctor.cli.commands.qa import qa
from proctor.cli.commands.report import report
from proctor.cli.commands.run import run
from proctor.cli.commands.score import score
from proctor.cli.commands.selftest import selftest
from proctor.cli.commands.serve import serve
from proctor.cli.commands.verify import verify
from proctor.cli.commands.view import view
from proctor.cli.commands.watch import watch
from proctor.errors import GIVES_OUT, HostError

NO_THREAD = "can't start new thread"
"""What Python says when the system refuses another thread; there is no class for it."""


class Commands(TyperGroup):
    """The commands; what Typer has opinions of its own about is kept from it."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a host that gives out under it is no defect of ours."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # whoever read our output has seen enough
            _drop_output()
            raise typer.Exit(HostError.exit_status) from None
        except (OSError, RuntimeError) as error:
            number = getattr(error, "errno", None)
            if number not in GIVES_OUT and str(error) != NO_THREAD:
                raise
            _drop_output()
            why = error.strerror if isinstance(error, OSError) else error
            raise HostError(f"cannot go on: {why}; what was graded is kept") from error


def _drop_output() -> None:
    """Keep Python from writing once more, at its end, what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


app = typer.Typer(
    name="proctor",
    cls=Commands,
    help="Run code that language models wrote, decide honestly whether it works, "
    "and say how sure that is.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("score")(score)
app.command("generate")(generate_command)
app.command("prompts")(prompts)
app.command("exec")(execute)
app.command("report")(report)
app.command("compare")(compare)
app.command("failures")(failures)
app.command("history")(history)
app.command("verify")(verify)
app.command("view")(view)
app.command("serve")(serve)
app.command("watch")(watch)
app.command("qa")(qa)
app.command("mcp")(mcp)
app.command("benchmarks")(benchmarks)
app.command("contract")(contract)
app.command("convert")(convert)
app.command("evalplus")(evalplus)
app.command("doctor")(doctor)
app.command("selftest")(selftest)
app.command("perplexity")(perplexity)
app.command("parity")(parity)
app.command("axes")(axes)
app.add_typer(bench, name="bench")
app.add_typer(keys, name="keys")


def misuse(error: Exception) -> str | None:
    """Return what is wrong with the command line, None if the error is about something else."""
    if not isinstance(error, TyperException):
        return None
    said = error.format_message().rstrip(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    return f"{said}; see {context.command_path if context else 'proctor'} --help"


@app.callback()
def callback(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Take options that belong to no command, and help who names none."""
    if version:
        typer.echo(f"proctor {metadata.version('proctor')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
