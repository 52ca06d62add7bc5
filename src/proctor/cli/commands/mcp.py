"""`proctor mcp`: the sandbox and the judge as tools of a coding agent."""

import msgspec

from proctor.cli import options, setup
from proctor.settings import load_settings

NEEDED = ("litestar",)


def mcp(
    *,
    workers: options.Workers = 0,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    data: options.Data = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
) -> None:
    """Offer execute and grade to a coding agent, by the Model Context Protocol on stdio."""
    setup.require_installed("the MCP server", NEEDED)
    from proctor.server.mcp.stdio import serve  # noqa: PLC0415  they need what was looked for
    from proctor.server.service import Service  # noqa: PLC0415

    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    if data is not None:
        settings = msgspec.structs.replace(settings, data=str(data))
    box = setup.sandbox_for(
        settings, name=sandbox, require=require, python=python, packages=candidate_packages
    )
    service = Service(box, workers=setup.service_workers(workers, settings), settings=settings)
    try:
        serve(service)
    finally:
        service.close()
