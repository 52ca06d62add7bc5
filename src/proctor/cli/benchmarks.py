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
    import msgspec  # noqa: PLC0415

    from proctor.benchmarks import TABLE  # noqa: PLC0415
    from proctor.benchmarks.download import download as fetch  # noqa: PLC0415
    from proctor.errors import InputError  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    if name is not None and name not in TABLE:
        raise InputError(f"{name}: no such benchmark; known are {', '.join(TABLE)}")
    if download:
        if name is None:
            raise InputError("--download: name the benchmark to fetch")
        typer.echo(f"{name}: {fetch(TABLE[name])}")
        return
    folder = None if settings.data is None else Path(settings.data)
    rows = [_row(one, data, folder) for one in TABLE if name in (None, one)]
    if json:
        typer.echo(msgspec.json.encode({"benchmarks": rows}).decode())
        return
    for row in rows:
        typer.echo(f"{row['name']:<16} {row['tasks']:>5} tasks  {row['summary']}")
        typer.echo(f"{'':<16} {row['licence']}; {row['url']}")
        typer.echo(f"{'':<16} {row['file'] or row['missing']}")


def _row(name: str, data: Path | None, folder: Path | None) -> dict[str, object]:
    from proctor.benchmarks import TABLE, find  # noqa: PLC0415
    from proctor.errors import InputError  # noqa: PLC0415

    source = TABLE[name]
    file, missing = None, None
    try:
        file = str(find(source, data, folder))
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
        "missing": missing,
    }
