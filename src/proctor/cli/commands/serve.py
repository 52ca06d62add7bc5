"""`proctor serve`: rewards, verdicts and executions over HTTP."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from proctor.cli import complain
from proctor.cli import options as o
from proctor.cli.engine_options import EngineOptions, cluster_for
from proctor.errors import InputError
from proctor.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.server.keys import Key
    from proctor.server.service import Service

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
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    batch_size: o.BatchSize = None,
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
    from proctor.server import app, connection  # noqa: PLC0415
    from proctor.server.keys import read_keys  # noqa: PLC0415
    from proctor.server.log import AccessLog  # noqa: PLC0415
    from proctor.settings import load_settings  # noqa: PLC0415

    sandbox, python = o.in_wasm(wasm, sandbox, python)
    ways = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    ways.check()
    settings = load_settings()
    if data is not None:
        settings = msgspec.structs.replace(settings, data=str(data))
    local = host in LOOPBACK
    known = None if keys is None else read_keys(keys)
    if not local and known is None and not insecure:
        raise InputError(
            f"--host {host}: everybody who can reach it could run programs here; make keys with "
            "proctor keys new and give --keys FILE, or say --insecure"
        )
    with connection.listen(host, port) as server:
        service = _service(ways, settings, queue or None, known)
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


def _service(
    ways: EngineOptions, settings: Settings, most_waiting: int | None, keys: "Sequence[Key] | None"
) -> "Service":
    """Open what judges and runs programs, on this machine or on a cluster."""
    from proctor.records.execution import Limits  # noqa: PLC0415
    from proctor.sandbox.limits.memory_budget import admit_workers  # noqa: PLC0415
    from proctor.server.service import Service  # noqa: PLC0415
    from proctor.settings import default_workers  # noqa: PLC0415

    box = o.sandbox_for(ways.sandbox, ways.require, ways.python, ways.packages, settings)
    if ways.engine is o.Engine.local:
        fitting = max(1, admit_workers(Limits().memory_bytes))
        count = ways.workers or settings.workers or min(default_workers(), fitting)
        return Service(box, workers=count, most_waiting=most_waiting, settings=settings, keys=keys)
    from proctor.grading.ray.remote_sandbox import open_remote_sandbox  # noqa: PLC0415

    cluster = cluster_for(ways, settings)
    return Service(
        open_remote_sandbox(cluster, box),
        workers=cluster.workers,
        engine=cluster,
        most_waiting=most_waiting,
        settings=settings,
        keys=keys,
        memory_bytes=cluster.memory_bytes,
    )


def _check_installed() -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the service needs {', '.join(missing)}; install it with pip install 'proctor[serve]'"
        )
