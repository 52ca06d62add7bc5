"""`proctor selftest`: the hostile corpus, run on this very machine."""

from typing import Annotated

import typer

from proctor.checks.hostile_corpus import select_programs
from proctor.checks.selftest import run_all
from proctor.cli import options, setup
from proctor.cli.progress import StepBar
from proctor.report import json as as_json
from proctor.report import selftest as report
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import default_workers, load_settings

FAILED = 1


def selftest(
    *,
    sandbox: options.SandboxName = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    topics: Annotated[
        str, typer.Option("--class", help="Only programs of these classes, as in reading,network.")
    ] = "",
    languages: Annotated[
        str, typer.Option("--language", help="Only programs in these languages, as in python,go.")
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Run every program under one kind of tests only.")
    ] = False,
    workers: options.Workers = 1,
    json: options.Json = False,
) -> None:
    """Run hostile and honest programs, say whether each is judged as it should be."""
    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    trials = select_programs(topics, languages, quick=quick)
    # warns, or refuses before the others do
    setup.sandbox_for(settings, name=sandbox, python=python).close()
    with StepBar("selftest", len(trials)) as steps:
        findings = run_all(
            lambda: open_sandbox(sandbox or settings.sandbox, python),
            trials,
            workers=workers or default_workers(),
            watch=steps.step,
        )
    if json:
        typer.echo(as_json.render(findings))
    else:
        typer.echo(report.render(findings), nl=False)
    if not findings.ok:
        raise typer.Exit(FAILED)
