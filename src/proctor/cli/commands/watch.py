"""`proctor watch`: evaluate every new checkpoint."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import options, setup
from proctor.cli.interrupt import Interrupt
from proctor.cli.messages import INTERRUPTED, complain
from proctor.errors import InputError
from proctor.report import json as as_json
from proctor.report import watch as text
from proctor.settings import load_settings
from proctor.watch.checkpoints import Finder
from proctor.watch.config import Config, read_config
from proctor.watch.loop import Watcher
from proctor.watch.rotation import Rotation
from proctor.watch.status import Status, status_of

DEGRADED = 1


def watch(
    config: Annotated[Path, typer.Argument(help="TOML file: what to watch, and what to ask.")],
    *,
    once: Annotated[
        bool, typer.Option("--once", help="End when nothing is left of what is there now.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only say how everything stands.")
    ] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Copy finished results here, each whole or not at all."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Evaluate new checkpoints as they appear; several watchers may share the work."""
    if status and (once or mirror is not None):
        raise InputError("--status only looks, so it goes with neither --once nor --mirror")
    read = read_config(config)
    found = _look(read) if status else _watch(read, once=once, mirror=mirror)
    typer.echo(as_json.render(found) if json else text.render(found), nl=json)
    if found.degraded:
        raise typer.Exit(DEGRADED)


def _watch(config: Config, *, once: bool, mirror: Path | None) -> Status:
    """Watch until interrupted, or once; a host that cannot judge anything does not begin.

    A first Ctrl-C lets go of what runs, a second one stops now.
    """
    settings = load_settings()
    setup.sandbox_for(settings, name=config.sandbox, require=config.require).close()
    interrupt = Interrupt()
    try:
        interrupt.listen()
        watcher = Watcher(config, settings, mirror=mirror, stop=interrupt.stop, say=complain)
        watcher.run(once=once)
    except KeyboardInterrupt:
        if interrupt.now:
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
    finally:
        interrupt.restore()
    if interrupt.stop.is_set():
        complain("interrupted; what was under way is taken up again by the next watcher")
        raise typer.Exit(INTERRUPTED)
    return watcher.status()


def _look(config: Config) -> Status:
    """Say how everything stands, without touching anything."""
    rotation = Rotation(config, load_settings())
    return status_of(config, Finder(config).look(), rotation.look())
