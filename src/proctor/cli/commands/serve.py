"""`proctor serve`: rewards, verdicts and executions over HTTP."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from proctor.cli import options, setup
from proctor.cli.engine_options import EngineOptions, cluster_for
from proctor.cli.messages import complain
from proctor.errors import InputError
from proctor.grading.ray.remote_sandbox import open_remote_sandbox
from proctor.server.keys import Key, read_keys
from proctor.server.log import AccessLog
from proctor.settings import Settings, load_settings

if TYPE_CHECKING:
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
    workers: options.Workers = 0,
    engine: options.EngineName = options.Engine.local,
    address: options.Address = None,
    batch_size: options.BatchSize = None,
    queue: Annotated[int, typer.Option(min=0, help="Requests that may wait; 0: 128 a worker.")] = 0,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    data: options.Data = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write no access log.")] = False,
) -> None:
    """Judge and run programs over HTTP, until asked to end."""
    setup.require_installed("the service", NEEDED)
    from proctor.server import app, connection  # noqa: PLC0415  they need what was looked for

    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    engine_options = EngineOptions(
        engine, address, batch_size, workers, sandbox, require, python, candidate_packages
    )
    engine_options.check()
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
        service = _service(engine_options, settings, queue or None, known)
        log = None if quiet else AccessLog(sys.stdout.fileno())
        try:
            application = app.application(service, log=log, local=local and known is None)
            shown = f"[{host}]" if ":" in host else host
            complain(f"serving at http://{shown}:{server.getsockname()[1]} (Ctrl-C ends it)")
            connection.serve(application, service, server)
        finally:
            service.close()
            if log is not None:
                log.close()


def _service(
    engine_options: EngineOptions,
    settings: Settings,
    max_waiting: int | None,
    keys: Sequence[Key] | None,
) -> "Service":
    """Open what judges and runs programs, on this machine or on a cluster."""
    from proctor.server.service import Service  # noqa: PLC0415  likewise

    box = engine_options.open_sandbox(settings)
    if engine_options.engine is options.Engine.local:
        count = setup.service_workers(engine_options.workers, settings)
        return Service(box, workers=count, max_waiting=max_waiting, settings=settings, keys=keys)
    cluster = cluster_for(engine_options, settings)
    return Service(
        open_remote_sandbox(cluster, box),
        workers=cluster.workers,
        engine=cluster,
        max_waiting=max_waiting,
        settings=settings,
        keys=keys,
        memory_bytes=cluster.memory_bytes,
    )
