"""Watch under the control of signals: once lets go of what runs, twice stops now."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from proctor.cli import INTERRUPTED, complain
from proctor.cli import options as o
from proctor.cli.interrupt import Interrupt
from proctor.settings import load_settings
from proctor.watch.checkpoints import Finder
from proctor.watch.config import Config
from proctor.watch.loop import Watcher
from proctor.watch.rotation import Rotation
from proctor.watch.status import Status, status_of


def watch_on(
    config: Config, *, once: bool, mirror: Path | None, say: Callable[[str], None]
) -> Status:
    """Watch until interrupted, or once; a host that cannot judge anything does not begin."""
    settings = load_settings()
    o.sandbox_for(config.sandbox, config.require, o.DEFAULT_PYTHON, None, settings).close()
    interrupt = Interrupt()
    try:
        interrupt.listen()
        watcher = Watcher(config, settings, mirror=mirror, stop=interrupt.stop, say=say)
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


def look(config: Config) -> Status:
    """Say how everything stands, without touching anything."""
    rotation = Rotation(config, load_settings())
    return status_of(config, Finder(config).look(), rotation.look())
