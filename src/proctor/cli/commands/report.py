"""`proctor report`: look at a run again."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options, setup
from proctor.errors import InputError
from proctor.report import csv_export, run_report
from proctor.report import html as page
from proctor.report import json as as_json
from proctor.report import markdown as md
from proctor.report.breakdown import compute_details
from proctor.results.summary import summarize
from proctor.storage.run_directory import write_out


def report(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    k: options.Ks = "",
    json: options.Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    tsv: Annotated[
        bool, typer.Option("--tsv", help="Print task_id, N and num_passed of every task.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write it as a page of its own to this file.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one line a sample to this file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Write one row a sample to this file.")
    ] = None,
    seed: options.Seed = 0,
) -> None:
    """Sum up a run from its receipts, whether it is finished or not."""
    if json + markdown + tsv > 1:
        raise InputError("report: --json, --markdown and --tsv: choose one of them")
    if tsv:
        typer.echo("\n".join(csv_export.by_task(run)))
        return
    summary = summarize(run, ks=setup.parse_counts("--k", k), seed=seed)
    details = compute_details(run, seed=seed)
    if html is not None:
        write_out(html, page.render(summary, details))
    if csv is not None:
        csv_export.write_csv(run, csv)
    if parquet is not None:
        csv_export.write_parquet(run, parquet)
    if json:
        typer.echo(as_json.render(run_report.record(summary, details)))
    else:
        typer.echo((md if markdown else run_report).render(summary, details), nl=False)
    if summary.degraded:
        raise typer.Exit(1)
