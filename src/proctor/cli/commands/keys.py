"""`proctor keys`: who may ask the service for what."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.errors import InputError
from proctor.server.keys import SCOPES, new_key, read_keys, write_keys

keys = typer.Typer(
    help="Make, list and remove the API keys of `proctor serve --keys FILE`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
File = Annotated[Path, typer.Option("--file", help="File of keys; it holds no secrets.")]
Name = Annotated[str, typer.Argument(help="Whose key it is; the log calls them so.")]
DEFAULT = Path("keys.jsonl")


@keys.command("new")
def new(
    name: Name,
    *,
    file: File = DEFAULT,
    scope: Annotated[
        str,
        typer.Option(help="What it is for: any of grade, execute, tasks, tests, metrics."),
    ] = "grade,execute,tasks",
) -> None:
    """Make a key, print it once, and add its digest to the file."""
    scopes = [known for known in SCOPES if known in scope.split(",")]
    if len(scopes) != len(scope.split(",")):
        raise InputError(f"--scope {scope}: known are {', '.join(SCOPES)}")
    known = read_keys(file) if file.exists() else []
    if any(key.name == name for key in known):
        raise InputError(f"{file}: there is a key {name} already; remove it first")
    secret, key = new_key(name, scopes)
    write_keys(file, [*known, key])
    typer.echo(secret)


@keys.command("list")
def list_(*, file: File = DEFAULT) -> None:
    """List whose keys there are and what they are for."""
    for key in read_keys(file):
        typer.echo(f"{key.name}  {','.join(key.scopes)}  {key.created}".rstrip())


@keys.command("remove")
def remove(name: Name, *, file: File = DEFAULT) -> None:
    """Remove a key; a service that runs has to be started again to forget it."""
    known = read_keys(file)
    left = [key for key in known if key.name != name]
    if len(left) == len(known):
        raise InputError(f"{file}: there is no key {name}")
    write_keys(file, left)
