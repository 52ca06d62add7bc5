"""`proctor doctor`: what this host can enforce."""

import typer

from proctor.cli import options as o
from proctor.report import json as as_json
from proctor.report import text
from proctor.sandbox.doctor import diagnose
from proctor.settings import load_settings


def doctor(
    *,
    sandbox: o.SandboxName = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    json: o.Json = False,
) -> None:
    """Try the sandbox and say what holds on this host."""
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    findings = diagnose(sandbox or load_settings().sandbox, python)
    if json:
        typer.echo(as_json.render(findings))
    else:
        for finding in findings.lines():
            typer.echo(text.printable(finding))
    if not findings.works:
        raise typer.Exit(3)
