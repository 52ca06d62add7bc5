"""Carry out a plan under a progress bar, print what came of it, and leave with its status."""

from pathlib import Path

import msgspec
import typer

from proctor.agreement import Agreement, Recording, compare, lines
from proctor.cli.progress import Bar
from proctor.evaluation import Plan, evaluate
from proctor.report.text import render, safe
from proctor.sandbox import Sandbox
from proctor.summary import Summary

DEGRADED, INTERRUPTED = 1, 130


def finish(
    plan: Plan,
    sandbox: Sandbox,
    out: Path | None,
    *,
    fresh: bool,
    json: bool,
    recorded: dict[tuple[str, int], Recording] | None = None,
    show: int = 0,
    min_agreement: float | None = None,
) -> None:
    """Run, print, exit."""
    place: list[Path] = []
    with Bar() as bar:

        def begin(total: int, done: int, path: Path) -> None:
            place.append(path)
            bar.begin(total, done, path)

        try:
            summary = evaluate(plan, sandbox, out, fresh=fresh, begin=begin, watch=bar.watch)
        except KeyboardInterrupt:
            where = safe(str(place[0])) if place else "the same run directory"
            typer.echo(f"proctor: interrupted; go on with --out {where}", err=True)
            raise typer.Exit(INTERRUPTED) from None
        finally:
            sandbox.close()
    agreement = None if recorded is None else compare(Path(summary.run_dir), recorded)
    _print(summary, agreement, json=json, show=show)
    too_low = agreement is not None and min_agreement is not None and agreement.rate < min_agreement
    if summary.degraded or too_low:
        raise typer.Exit(DEGRADED)


def _print(summary: Summary, agreement: Agreement | None, *, json: bool, show: int) -> None:
    if json:
        whole = msgspec.to_builtins(summary)
        if agreement is not None:
            whole["agreement"] = {**msgspec.to_builtins(agreement), "rate": agreement.rate}
        typer.echo(msgspec.json.encode(whole).decode())
        return
    typer.echo(render(summary), nl=False)
    if agreement is not None:
        typer.echo("")
        for line in lines(agreement, show):
            typer.echo("  " + safe(line))
