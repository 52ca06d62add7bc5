"""`proctor benchmarks`: what is known, where it is, and how to get it."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options as o


def benchmarks(
    name: Annotated[str | None, typer.Argument(help="Tell about one of them.")] = None,
    *,
    data: o.Data = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch and check its file.")] = False,
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
    folder = None if settings.data is None else Path(settings.data)
    rows = [_row(one, data, folder) for one in TABLE if name in (None, one)]
    if json:
        typer.echo(as_json.render({"benchmarks": rows}))
        return
    for row in rows:
        typer.echo(f"{row['name']:<16} {row['tasks']:>5} tasks  {row['summary']}")
        typer.echo(f"{'':<16} {row['licence']}; {row['url'] or 'comes with proctor'}")
        other = "" if row["pinned"] in (True, None) else "  (not as published)"
        typer.echo(safe(f"{'':<16} {row['file'] or row['missing']}{other}"))


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
