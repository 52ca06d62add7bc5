"""Handle requests about notebooks: open, list, run a cell, close."""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TypeVar

from proctor.client.schema import (
    CellError,
    ExecuteCell,
    ExecutedCell,
    OpenSession,
    SessionAbout,
    Sessions,
    decode_files,
)
from proctor.errors import InputError, SandboxError
from proctor.records.execution import SandboxFailed
from proctor.records.limits import Limits
from proctor.sandbox.supervisor.job import NOT_THERE, is_inside
from proctor.sandbox.supervisor.notebook import Cell, Notebook
from proctor.server.errors import ErrorResponse
from proctor.server.execute import requested_limits
from proctor.server.keys import Caller
from proctor.server.notebook_registry import OpenNotebook
from proctor.server.queue import QueueTimeout
from proctor.server.service import Service

T = TypeVar("T")
USUAL = Limits().with_seconds(30.0)
"""Limits of a cell if the request names none."""


async def opened(service: Service, caller: Caller, ask: OpenSession) -> SessionAbout:
    """Open a notebook with files in its folder."""
    limits = requested_limits(service, ask.limits, USUAL)
    files = _files(service, ask.files)

    def open_() -> OpenNotebook:
        held = service.notebooks.open(caller.name, limits, ask.idle_seconds)
        try:
            put(held.notebook, files)
        except BaseException:
            service.notebooks.drop(held)
            raise
        return held

    return _about(await _in_turn(service, caller, open_, None))


def listed(service: Service, caller: Caller) -> Sessions:
    """List the notebooks of the caller."""
    held = service.notebooks.of(caller.name)
    return Sessions(
        sessions=[_about(one) for one in held], most=service.notebooks.max_open_per_owner
    )


async def closed(service: Service, caller: Caller, name: str) -> SessionAbout:
    """Close a notebook."""
    held = service.notebooks.find(caller.name, name)
    await asyncio.to_thread(service.notebooks.drop, held)
    return _about(held)


async def executed(service: Service, caller: Caller, name: str, ask: ExecuteCell) -> ExecutedCell:
    """Run a cell in its turn; a notebook runs one cell at a time."""
    held = service.notebooks.find(caller.name, name)
    files = _files(service, ask.files)
    for path in ask.fetch_files:
        is_inside(path)
    if ask.timeout_s is not None and ask.timeout_s > service.max_seconds:
        raise InputError(f"timeout_s: must be at most {service.max_seconds:g}")
    if not held.busy.acquire(blocking=False):
        raise ErrorResponse(HTTPStatus.CONFLICT, "busy", "the session runs another cell", 1.0)
    try:
        return await _in_turn(
            service, caller, lambda: _run(service, held, files, ask), ask.deadline_seconds
        )
    finally:
        held.rest()
        held.busy.release()


def _run(
    service: Service, held: OpenNotebook, files: Mapping[str, bytes], ask: ExecuteCell
) -> ExecutedCell:
    notebook = held.notebook
    try:
        put(notebook, files)
        held.cells += 1
        cell = notebook.execute(ask.code, ask.timeout_s)
        if isinstance(cell.ending, SandboxFailed):
            raise SandboxError(cell.ending.reason)
        found, missing = take(notebook, ask.fetch_files, service.bounds.file_bytes)
    finally:
        if not notebook.alive:
            service.notebooks.drop(held)
    service.metrics.executed("cell")
    return ExecutedCell(
        stdout=cell.stdout.decode("utf-8", "replace"),
        stderr=cell.stderr.decode("utf-8", "replace"),
        display=cell.shown,
        error=error_of(cell),
        ending=cell.ending,
        alive=notebook.alive,
        truncated=cell.truncated,
        files={path: base64.b64encode(content).decode() for path, content in found.items()},
        missing=missing,
        seconds=cell.seconds,
    )


def put(notebook: Notebook, files: Mapping[str, bytes]) -> None:
    """Put files into the folder of a notebook."""
    for path, content in files.items():
        notebook.write(is_inside(path), content)


def take(
    notebook: Notebook, paths: Sequence[str], max_bytes: int
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return files of a notebook's folder, and for the others why they are missing."""
    files: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    room = max_bytes
    for path in paths:
        try:
            content = notebook.read(is_inside(path), room + 1)
        except SandboxError:
            missing[path] = NOT_THERE if notebook.alive else "the process has ended"
            continue
        if len(content) > room:
            missing[path] = f"more than {max_bytes} bytes in all"
            continue
        files[path] = content
        room -= len(content)
    return files, missing


def error_of(cell: Cell) -> CellError | None:
    """Return the exception that a cell raised, if any."""
    if cell.raised is None:
        return None
    return CellError(
        ename=cell.raised.ename,
        evalue=cell.raised.evalue,
        traceback=cell.raised.traceback.splitlines(),
    )


async def _in_turn(
    service: Service, caller: Caller, work: Callable[[], T], deadline: float | None
) -> T:
    max_seconds = service.bounds.deadline_seconds
    try:
        async with asyncio.timeout(min(deadline or max_seconds, max_seconds)):
            return await service.gate.run(work, key=caller.name)
    except TimeoutError:
        raise QueueTimeout from None


def _files(service: Service, files: Mapping[str, str]) -> dict[str, bytes]:
    found = decode_files(files, service.bounds.file_bytes)
    for path in found:
        is_inside(path)
    return found


def _about(held: OpenNotebook) -> SessionAbout:
    return SessionAbout(id=held.id, idle_seconds=held.idle_seconds, cells=held.cells)
