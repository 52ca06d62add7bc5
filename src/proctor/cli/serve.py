"""`proctor serve`: rewards, verdicts and executions over HTTP."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proctor.cli import complain
from proctor.cli import options as o
from proctor.errors import InputError

NEEDED = ("litestar", "uvicorn", "httptools")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8080,
    keys: Annotated[
        Path | None, typer.Option(help="File of API keys, as `proctor keys` makes it.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen elsewhere than on loopback without keys.")
    ] = False,
    workers: o.Workers = 0,
    queue: Annotated[int, typer.Option(min=0, help="Requests that may wait; 0: 128 a worker.")] = 0,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    data: o.Data = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write no access log.")] = False,
) -> None:
    """Judge and run programs over HTTP, until asked to end."""
    _check_installed()
    from proctor.sandbox import Limits  # noqa: PLC0415
    from proctor.sandbox.admission import admitted  # noqa: PLC0415
    from proctor.server import app, connection  # noqa: PLC0415
    from proctor.server.keys import read_keys  # noqa: PLC0415
    from proctor.server.log import AccessLog  # noqa: PLC0415
    from proctor.server.service import Service  # noqa: PLC0415
    from proctor.settings import default_workers, load_settings  # noqa: PLC0415

    settings = load_settings()
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    if data is not None:
        settings = msgspec.structs.replace(settings, data=str(data))
    local = host in LOOPBACK
    known = None if keys is None else read_keys(keys)
    if not local and known is None and not insecure:
        raise InputError(
            f"--host {host}: everybody who can reach it could run programs here; make keys with "
            "proctor keys new and give --keys FILE, or say --insecure"
        )
    fitting = max(1, admitted(Limits().memory_bytes))
    count = workers or settings.workers or min(default_workers(), fitting)
    with connection.listen(host, port) as server:
        box = o.sandbox_for(sandbox, require, python, candidate_packages, settings)
        service = Service(
            box, workers=count, most_waiting=queue or None, settings=settings, keys=known
        )
        log = None if quiet else AccessLog(sys.stdout.fileno())
        try:
            door = app.application(service, log=log, local=local and known is None)
            shown = f"[{host}]" if ":" in host else host
            complain(f"serving at http://{shown}:{server.getsockname()[1]} (Ctrl-C ends it)")
            connection.serve(door, service, server)
        finally:
            service.close()
            if log is not None:
                log.close()


def _check_installed() -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the service needs {', '.join(missing)}; install it with pip install 'proctor[serve]'"
        )
