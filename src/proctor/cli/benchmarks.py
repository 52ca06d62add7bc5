"""`proctor benchmarks`: what is known, where it is, and how to get it."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options as o

WIDTH = 26
"""Of the longest name."""


def benchmarks(
    name: Annotated[str | None, typer.Argument(help="Tell about one of them.")] = None,
    *,
    data: o.Data = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch and check its file.")] = False,
    requirements: Annotated[
        bool, typer.Option("--requirements", help="Print what its solutions need installed.")
    ] = False,
    json: o.Json = False,
) -> None:
    """List the benchmarks that are known by name."""
    from proctor.benchmarks import TABLE  # noqa: PLC0415
    from proctor.benchmarks.download import download as fetch  # noqa: PLC0415
    from proctor.errors import InputError  # noqa: PLC0415
    from proctor.report import json as as_json  # noqa: PLC0415
    from proctor.report.text import safe  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    if name is not None and name not in TABLE:
        raise InputError(f"{name}: no such benchmark; known are {', '.join(TABLE)}")
    if download:
        if name is None:
            raise InputError("--download: name the benchmark to fetch")
        typer.echo(safe(f"{name}: {fetch(TABLE[name])}"))
        return
    if requirements:
        if name is None:
            raise InputError("--requirements: name the benchmark to print them for")
        typer.echo("\n".join(_requirements(name)))
        return
    folder = None if settings.data is None else Path(settings.data)
    rows = [_row(one, data, folder) for one in TABLE if name in (None, one)]
    if json:
        typer.echo(as_json.render({"benchmarks": rows}))
        return
    for row in rows:
        tasks = "?" if row["tasks"] is None else row["tasks"]
        typer.echo(f"{row['name']:<{WIDTH}} {tasks:>5} tasks  {row['summary']}")
        typer.echo(f"{'':<{WIDTH}} {row['licence']}; {row['url'] or 'comes with proctor'}")
        other = "" if row["pinned"] in (True, None) else "  (not as published)"
        typer.echo(safe(f"{'':<{WIDTH}} {row['file'] or row['missing']}{other}"))


def _requirements(name: str) -> list[str]:
    """Return lines for pip, with the versions that the benchmark's own solutions need."""
    from proctor.benchmarks import TABLE  # noqa: PLC0415
    from proctor.benchmarks.bigcodebench import LIBRARIES  # noqa: PLC0415

    needed = TABLE[name].libraries
    if not set(LIBRARIES) <= set(needed):
        return list(needed)
    return [f"{library}{versions}" for library, versions in LIBRARIES.items()]


def _row(name: str, data: Path | None, folder: Path | None) -> dict[str, object]:
    from proctor.benchmarks import TABLE, find, is_pinned  # noqa: PLC0415
    from proctor.errors import InputError  # noqa: PLC0415

    source = TABLE[name]
    file, missing, pinned = None, None, None
    try:
        found = find(source, data, folder)
        file, pinned = str(found), is_pinned(found, source)
    except InputError as error:
        missing = str(error)
    return {
        "name": source.name,
        "summary": source.summary,
        "tasks": source.tasks,
        "licence": source.licence,
        "url": source.url,
        "sha256": source.sha256,
        "file": file,
        "pinned": pinned,
        "missing": missing,
    }
