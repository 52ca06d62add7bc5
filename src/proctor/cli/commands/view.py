"""`proctor view`: look at runs in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import complain
from proctor.errors import InputError

SERVE = ("litestar", "uvicorn", "jinja2", "pygments")


def view(
    folder: Annotated[Path, typer.Argument(help="Folder with runs, or one run.")] = Path("runs"),
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of this machine; 0: any that is free.")
    ] = 7399,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the pages into a new folder instead."),
    ] = None,
) -> None:
    """Look at runs in a browser, on this machine alone, while they run or afterwards."""
    _check_installed()
    from proctor.settings import has_display  # noqa: PLC0415
    from proctor.storage.home import home  # noqa: PLC0415
    from proctor.viewer.export import export_site  # noqa: PLC0415
    from proctor.viewer.runs import RunCatalog  # noqa: PLC0415
    from proctor.viewer.server import listen, serve  # noqa: PLC0415
    from proctor.viewer.site import Site  # noqa: PLC0415
    from proctor.viewer.urls import Served  # noqa: PLC0415

    catalogue = RunCatalog(folder, home(".cache", "proctor", "view"))
    if export is not None:
        for line in export_site(catalogue, export):
            typer.echo(line)
        return
    site = Site(catalogue, Served())
    with listen(port) as server:
        try:
            serve(site, server, open_browser=has_display() and not no_open, say=complain)
        except KeyboardInterrupt:
            return  # how one ends it


def _check_installed() -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    missing = [name for name in SERVE if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the viewer needs {', '.join(missing)}; install it with pip install 'proctor[serve]'"
        )
