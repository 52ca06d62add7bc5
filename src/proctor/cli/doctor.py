"""`proctor doctor`: what this host can enforce."""

import typer

from proctor.cli import options as o


def doctor(
    *, sandbox: o.SandboxName = None, python: o.Python = o.DEFAULT_PYTHON, json: o.Json = False
) -> None:
    """Try the sandbox up to a first candidate and say what holds on this host."""
    import msgspec  # noqa: PLC0415

    from proctor.sandbox.doctor import examine_host  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    findings = examine_host(sandbox or load_settings().sandbox, python)
    if json:
        typer.echo(msgspec.json.encode(findings).decode())
    else:
        for finding in findings.lines():
            typer.echo(finding)
    if not findings.works:
        raise typer.Exit(3)
