"""Run the cells of a notebook as `/run_jupyter` asks for it: one process, then nothing is left."""

import time
from base64 import b64decode, b64encode
from collections.abc import Iterator

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Denied, OutOfMemory, SandboxFailed, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.sandbox.supervisor.job import NOT_THERE, is_inside
from proctor.sandbox.supervisor.notebook import Cell, Notebook
from proctor.server import notebook_routes
from proctor.server.compat.sandboxfusion.answers import (
    KILLED,
    MAX_OUTPUT,
    TOO_LATE,
    CellRan,
    Command,
    RanJupyter,
)
from proctor.server.compat.sandboxfusion.requests import RunJupyter
from proctor.server.compat.sandboxfusion.running import PROCESSES, UNLIMITED_BYTES
from proctor.server.service import Service, ServiceLimits

MAX_CELLS = 1000


def run(service: Service, request: RunJupyter) -> RanJupyter:
    """Run cells one after the other and answer as SandboxFusion answers."""
    if request.total_timeout <= 0:
        return RanJupyter(status="Failed", driver=TOO_LATE)
    try:
        files = _files(request, service.bounds)
        notebook = service.sandbox.notebook(_limits(request, service.max_memory_bytes))
    except (InputError, SandboxError, ValueError) as error:
        return _failed_here(request, error)
    try:
        return _run(service, notebook, request, files)
    except SandboxError as error:
        return _failed_here(request, error)
    finally:
        notebook.close()


def _run(
    service: Service, notebook: Notebook, request: RunJupyter, files: dict[str, bytes]
) -> RanJupyter:
    begun = time.monotonic()
    notebook_routes.put(notebook, files)
    done = list(_cells(notebook, request))
    service.metrics.executed("notebook")
    found, missing = notebook_routes.take(notebook, request.fetch_files, service.bounds.file_bytes)
    last = done[-1].ending if done else None
    if isinstance(last, SandboxFailed):
        raise SandboxError(last.reason)
    out_of_time = len(done) < len(request.cells) and notebook.alive
    late = out_of_time or (isinstance(last, TimedOut) and not notebook.alive)
    driver = Command(
        status="TimeLimitExceeded" if late else "Finished",
        execution_time=time.monotonic() - begun,
        return_code=None if late else 0 if notebook.alive else KILLED,
    )
    remarks = [remark for index, cell in enumerate(done) for remark in _remarks(index, cell)]
    left = ((path, why) for path, why in missing.items() if why != NOT_THERE)
    remarks += [f"{path!r} is not fetched: {why}" for path, why in left]
    fine = not late and notebook.alive and all(cell.ending is None for cell in done)
    return RanJupyter(
        status="Success" if fine else "Failed",
        message="; ".join(remarks),
        driver=driver,
        cells=[_told(cell) for cell in done],
        files={path: b64encode(data).decode() for path, data in found.items()},
    )


def _cells(notebook: Notebook, request: RunJupyter) -> Iterator[Cell]:
    """Run cells until their time or their process is over; what one raises does not stop others."""
    left = request.total_timeout
    for code in request.cells:
        if left <= 0 or not notebook.alive:
            return
        seconds = min(left, request.cell_timeout) if request.cell_timeout > 0 else left
        cell = notebook.execute(code, seconds)
        left -= cell.seconds
        yield cell


def _told(cell: Cell) -> CellRan:
    raised = notebook_routes.error_of(cell)
    return CellRan(
        stdout=cell.stdout.decode("utf-8", "replace"),
        stderr=cell.stderr.decode("utf-8", "replace"),
        display=cell.shown,
        error=[] if raised is None else [msgspec.to_builtins(raised)],
    )


def _remarks(index: int, cell: Cell) -> Iterator[str]:
    if cell.truncated:
        yield f"cell {index} wrote more than {MAX_OUTPUT} bytes; the first are kept"
    match cell.ending:
        case None:
            return
        case TimedOut():
            yield f"cell {index} was ended because its time was over"
        case OutOfMemory():
            yield f"cell {index} ended the process because it ran out of memory"
        case Denied(what):
            yield f"cell {index} ended the process because it tried {what}"
        case _:
            yield f"cell {index} ended the process"


def _limits(request: RunJupyter, max_memory_bytes: int) -> Limits:
    asked = request.memory_limit_mb * MIB if request.memory_limit_mb > 0 else UNLIMITED_BYTES
    return Limits(
        memory_bytes=min(asked, max_memory_bytes),
        output_bytes=MAX_OUTPUT,
        processes=PROCESSES,
        open_files=1024,
    ).with_seconds(request.total_timeout)


def _files(request: RunJupyter, bounds: ServiceLimits) -> dict[str, bytes]:
    """Read the files of a request; an InputError says which path leads out of the folder."""
    if max(len(request.files), len(request.fetch_files)) > bounds.files:
        raise InputError(f"more than {bounds.files} files")
    if len(request.cells) > MAX_CELLS:
        raise InputError(f"more than {MAX_CELLS} cells")
    files = {path: b64decode(text) for path, text in request.files.items() if text is not None}
    if sum(map(len, files.values())) > bounds.file_bytes:
        raise InputError(f"more than {bounds.file_bytes} bytes of files")
    for path in (*files, *request.fetch_files):
        is_inside(path)
    return files


def _failed_here(request: RunJupyter, why: object) -> RanJupyter:
    """Say as its server does that nothing could be run."""
    code = "\n".join(request.cells)[:100]
    message = f"exception on running jupyter {code}: {why} None"
    return RanJupyter(status="SandboxError", message=message)
