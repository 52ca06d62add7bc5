"""`proctor benchmarks`: what is known, where it is, and how to get it."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from proctor.benchmarks import TABLE, find, find_all, is_pinned, plugin_benchmarks
from proctor.benchmarks.download import download as fetch
from proctor.benchmarks.selection import Selection
from proctor.benchmarks.source import Source
from proctor.checks.contract.result import Result
from proctor.checks.contract.result_store import latest_result_of_files
from proctor.cli import options, setup
from proctor.cli.messages import complain
from proctor.errors import InputError
from proctor.report import json as as_json
from proctor.report.contract import standing
from proctor.report.text import printable
from proctor.settings import load_settings

WIDTH = 26
"""Of the longest name."""


def benchmarks(
    name: Annotated[str | None, typer.Argument(help="Tell about one of them.")] = None,
    *,
    data: options.Data = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch and check its file.")] = False,
    requirements: Annotated[
        bool, typer.Option("--requirements", help="Print what its solutions need installed.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List the benchmarks that are known by name, and whether each kept its contract here."""
    settings = load_settings()
    plugged = plugin_benchmarks(name)
    known = {**TABLE, **plugged.found}
    for why in plugged.broken.values():
        complain(f"{why}; the others are not touched by that")
    if name is not None and name not in known:
        names = ", ".join((*TABLE, *plugin_benchmarks().found))
        raise InputError(f"{name}: no such benchmark; known are {names}")
    if download:
        if name is None:
            raise InputError("--download: name the benchmark to fetch")
        typer.echo(printable(f"{name}: {fetch(known[name])}"))
        return
    if requirements:
        if name is None:
            raise InputError("--requirements: name the benchmark to print them for")
        typer.echo("\n".join(known[name].requirements or known[name].libraries))
        return
    folder = setup.data_folder(settings)
    rows = [_row(source, data, folder) for one, source in known.items() if name in (None, one)]
    if json:
        typer.echo(as_json.render({"benchmarks": [row.as_dict() for row in rows]}))
        return
    for row in rows:
        _show(row)


def _show(row: "Row") -> None:

    source = row.source
    tasks = "?" if source.tasks is None else source.tasks
    typer.echo(printable(f"{source.name:<{WIDTH}} {tasks:>5} tasks  {source.summary}"))
    origin = source.url or ("comes with its package" if row.plugged else "comes with proctor")
    typer.echo(printable(f"{'':<{WIDTH}} {source.licence}; {origin}"))
    other = "" if row.pinned in (True, None) else "  (not as published)"
    typer.echo(printable(f"{'':<{WIDTH}} {row.file or row.missing}{other}"))
    if row.contract is not None:
        typer.echo(f"{'':<{WIDTH}} {standing(row.contract)}")


class Row(NamedTuple):
    """One benchmark, where its file is, and what is known of its contract."""

    source: Source
    plugged: bool
    file: str | None = None
    pinned: bool | None = None
    missing: str | None = None
    contract: Result | None = None

    def as_dict(self) -> dict[str, object]:
        """Return it for --json."""
        source, found = self.source, self.contract
        return {
            "name": source.name,
            "summary": source.summary,
            "tasks": source.tasks,
            "licence": source.licence,
            "url": source.url,
            "sha256": source.sha256,
            "file": self.file,
            "pinned": self.pinned,
            "missing": self.missing,
            "in_rotation": None if found is None else found.in_rotation,
            "not_in_rotation": None if found is None else found.reason or None,
            "examined": None if found is None else found.created,
        }


def _row(source: Source, data: Path | None, folder: Path | None) -> Row:

    plugged = source.name not in TABLE
    try:
        found = find(source, data, folder)
        pinned = is_pinned(found, source)
        contract = latest_result_of_files(
            source.name, lambda: find_all(source, data, folder, Selection())
        )
    except InputError as error:
        return Row(source, plugged, missing=str(error))
    return Row(source, plugged, file=str(found), pinned=pinned, contract=contract)
