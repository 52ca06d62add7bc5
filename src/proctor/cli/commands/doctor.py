"""`proctor doctor`: what this host can enforce."""

import typer

from proctor.cli import options, setup
from proctor.report import json as as_json
from proctor.report import text
from proctor.sandbox.doctor import diagnose
from proctor.settings import load_settings


def doctor(
    *,
    sandbox: options.SandboxName = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    json: options.Json = False,
) -> None:
    """Try the sandbox and say what holds on this host."""
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    findings = diagnose(sandbox or load_settings().sandbox, python)
    if json:
        typer.echo(as_json.render(findings))
    else:
        for finding in findings.lines():
            typer.echo(text.printable(finding))
    if not findings.works:
        raise typer.Exit(3)
