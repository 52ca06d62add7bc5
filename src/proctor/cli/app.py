"""The root command. It knows names and summaries; a command is imported when it is used."""

import os
from importlib import import_module, metadata
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from proctor.cli.messages import INTERRUPTED, complain
from proctor.errors import GIVES_OUT, HostError, InputError

NO_THREAD = "can't start new thread"
"""What Python says when the system refuses another thread; there is no class for it."""
SUMMARIES = {
    "run": "Ask a model, judge its answers, print pass@k and its interval.",
    "score": "Judge recorded completions, print pass@k with its interval.",
    "generate": (
        "Ask a model and write down its answers; `proctor score` judges them, here or elsewhere."
    ),
    "prompts": "Show a prompt as a model gets it, with what ends the answer.",
    "exec": "Run one program in the sandbox, print what happened as JSON.",
    "report": "Sum up a run from its receipts, whether it is finished or not.",
    "compare": "Compare runs of one benchmark, task by task, and say what is beyond noise.",
    "failures": "Gather what did not pass by bucket, exception and message.",
    "history": (
        "List all runs below a folder, the oldest first, unfinished and damaged ones included."
    ),
    "verify": "Judge a part of a run's samples again and list every verdict that differs.",
    "view": "Look at runs in a browser, on this machine alone, while they run or afterwards.",
    "serve": "Judge and run programs over HTTP, until asked to end.",
    "watch": "Evaluate new checkpoints as they appear; several watchers may share the work.",
    "qa": "Look whether a run, or all runs of a checkpoint, may be published, line by line.",
    "mcp": "Offer execute and grade to a coding agent, by the Model Context Protocol on stdio.",
    "benchmarks": (
        "List the benchmarks that are known by name, and whether each kept its contract here."
    ),
    "contract": "Look whether a benchmark keeps its contract, so that it may be relied on.",
    "convert": "Write a run, or samples of another tool, in another tool's format.",
    "evalplus": (
        "Take the flags of evalplus.evaluate, judge by our engine, print and write as it does."
    ),
    "doctor": "Try the sandbox and say what holds on this host.",
    "selftest": "Run hostile and honest programs, say whether each is judged as it should be.",
    "perplexity": (
        "Measure how well a model predicts a text, per token and per byte, with an interval."
    ),
    "parity": (
        "Ask two backends the same, greedily: where do they part, how far are they from each other."
    ),
    "axes": "Say of answers in C++ whether they compile, keep to their context, invent, are right.",
    "bench": "Measure how fast this host, or a model, is.",
    "keys": "Make, list and remove the API keys of `proctor serve --keys FILE`.",
}
"""The first line of help of each command, in the order of `proctor --help`."""


def load(name: str) -> Any:
    """Import a command: the function or group called NAME in the module commands/NAME."""
    found = getattr(import_module(f"proctor.cli.commands.{name}"), name)
    parent = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
    else:
        parent.command(name)(found)
    return typer.main.get_group(parent).commands[name]


class LazyCommand(TyperCommand):
    """A name and a summary; the command itself is imported once it gets arguments."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Parse the arguments of the imported command, which then runs in place of this one."""
        return load(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, not yet imported; errors are raised as Proctor's own."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in SUMMARIES.items():
            self.add_command(LazyCommand(name=name, help=summary))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run; misuse of the command line is bad input."""
        try:
            return super().main(*args, **options)
        except TyperException as error:
            said = error.format_message().rstrip(".").replace("Value error, ", "")
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "proctor"
            raise InputError(f"{said}; see {path} --help") from None

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
