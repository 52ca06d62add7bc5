"""`proctor view`: look at runs in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import setup
from proctor.cli.messages import complain
from proctor.settings import has_display
from proctor.storage.home import home

NEEDED = ("litestar", "uvicorn", "jinja2", "pygments")


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
    setup.require_installed("the viewer", NEEDED)
    from proctor.viewer.export import export_site  # noqa: PLC0415  they need what was looked for
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
