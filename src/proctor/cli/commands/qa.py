"""`proctor qa`: the gate before figures are published."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.checks.qa.policy import read_policy
from proctor.cli import options as o
from proctor.cli.commands.qa_gate import GateOptions, check
from proctor.report import json as as_json
from proctor.report import qa as text
from proctor.settings import load_settings
from proctor.storage.run_directory import write_out

NOT_PASSED = 1


def qa(
    subject: Annotated[Path, typer.Argument(help="Run directory, or a checkpoint.")],
    policy: Annotated[Path, typer.Option(help="TOML file: what is asked of it.")],
    *,
    results: Annotated[
        Path | None, typer.Option(help="Where `proctor watch` keeps results of checkpoints.")
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Write a badge for a report.")
    ] = None,
    data: o.Data = None,
    workers: o.Workers = 0,
    json: o.Json = False,
    sandbox: o.SandboxName = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
    compare: o.CompareName = None,
) -> None:
    """Look whether a run, or all runs of a checkpoint, may be published, line by line."""
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    ways = GateOptions(
        settings=load_settings(),
        data=data,
        workers=workers,
        sandbox=sandbox,
        python=python,
        packages=candidate_packages,
        compare=compare,
    )
    checked = check(subject, read_policy(policy), policy, results, ways)
    if badge is not None:
        write_out(badge, text.badge(checked))
    typer.echo(as_json.render(checked) if json else text.render(checked), nl=json)
    if not checked.passed:
        raise typer.Exit(NOT_PASSED)
