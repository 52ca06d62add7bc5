"""`proctor mcp`: the sandbox and the judge as tools of a coding agent."""

import msgspec

from proctor.cli import options as o
from proctor.records.execution import Limits
from proctor.sandbox.limits.memory_budget import admit_workers
from proctor.server.mcp.stdio import serve
from proctor.server.service import Service
from proctor.settings import default_workers, load_settings


def mcp(
    *,
    workers: o.Workers = 0,
    sandbox: o.SandboxName = None,
    require: o.Require = None,
    data: o.Data = None,
    python: o.Python = o.DEFAULT_PYTHON,
    wasm: o.Wasm = None,
    candidate_packages: o.Packages = None,
) -> None:
    """Offer execute and grade to a coding agent, by the Model Context Protocol on stdio."""
    settings = load_settings()
    sandbox, python = o.in_wasm(wasm, sandbox, python)
    if data is not None:
        settings = msgspec.structs.replace(settings, data=str(data))
    fitting = max(1, admit_workers(Limits().memory_bytes))
    count = workers or settings.workers or min(default_workers(), fitting)
    box = o.sandbox_for(sandbox, require, python, candidate_packages, settings)
    service = Service(box, workers=count, settings=settings)
    try:
        serve(service)
    finally:
        service.close()
