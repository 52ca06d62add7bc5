"""The native API: grade, execute, sessions, benchmarks, tasks, health, metrics."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import msgspec
from litestar import Request, Response, asgi, delete, get, post
from litestar.types import HTTPScope, Receive, Scope, Send

from proctor.benchmarks import TABLE, find
from proctor.client import schema as m
from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.records.task import Benchmark
from proctor.server import notebook_routes, openapi
from proctor.server.batch import Batch
from proctor.server.errors import JSON, ErrorResponse
from proctor.server.execute import execution_body
from proctor.server.grade import graded_body, grading_plan
from proctor.server.keys import Caller
from proctor.server.service import Service

AnyRequest = Request[Any, Any, Any]
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def routes(service: Service) -> list[Any]:
    """Return the handlers of the native API."""
    return [*_work(service), *_sessions(service), *_reading(service), *_health(service)]


def caller_of(request: AnyRequest) -> Caller:
    """Return who asks."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


async def body_of(request: AnyRequest, kind: type[msgspec.Struct]) -> Any:
    """Return what a request says."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON:
        said = f"send it as {JSON}"
        raise ErrorResponse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media_type", said)
    return m.decode(await request.body(), kind)


def json(record: Any, status: int = HTTPStatus.OK) -> Response[bytes]:
    """Answer with a record."""
    return Response(encode(record), status_code=status, media_type=JSON)


def _work(service: Service) -> list[Any]:
    @post("/v1/grade", opt={"scope": "grade"}, status_code=HTTPStatus.OK)
    async def grade(request: AnyRequest) -> Response[bytes]:
        plan = await grading_plan(
            service, await body_of(request, m.Grade), max_completions=service.bounds.completions
        )
        receipts = await graded_body(service, caller_of(request), plan)
        return json(m.Graded(task_id=plan.task.task_id, receipts=receipts))

    @post("/v1/execute", opt={"scope": "execute"}, status_code=HTTPStatus.OK)
    async def execute(request: AnyRequest) -> Response[bytes]:
        ask = await body_of(request, m.Execute)
        return json(await execution_body(service, caller_of(request), ask))

    @asgi("/v1/grade/batch", opt={"scope": "grade"}, copy_scope=False)
    async def batch(scope: Scope, receive: Receive, send: Send) -> None:
        await Batch(service, cast("HTTPScope", scope), receive, send).answer()

    return [grade, execute, batch]


def _sessions(service: Service) -> list[Any]:
    @post("/v1/sessions", opt={"scope": "execute"}, status_code=HTTPStatus.OK)
    async def open_session(request: AnyRequest) -> Response[bytes]:
        ask = await body_of(request, m.OpenSession)
        return json(await notebook_routes.opened(service, caller_of(request), ask))

    @get("/v1/sessions", opt={"scope": "execute"})
    async def list_sessions(request: AnyRequest) -> Response[bytes]:
        return json(notebook_routes.listed(service, caller_of(request)))

    @post(
        "/v1/sessions/{session_id:str}/execute", opt={"scope": "execute"}, status_code=HTTPStatus.OK
    )
    async def execute_cell(request: AnyRequest) -> Response[bytes]:
        name, caller = request.path_params["session_id"], caller_of(request)
        ask = await body_of(request, m.ExecuteCell)
        return json(await notebook_routes.executed(service, caller, name, ask))

    @delete("/v1/sessions/{session_id:str}", opt={"scope": "execute"}, status_code=HTTPStatus.OK)
    async def close_session(request: AnyRequest) -> Response[bytes]:
        name, caller = request.path_params["session_id"], caller_of(request)
        return json(await notebook_routes.closed(service, caller, name))

    return [open_session, list_sessions, execute_cell, close_session]


def _reading(service: Service) -> list[Any]:
    @get("/v1/benchmarks", opt={"scope": "tasks"})
    async def benchmarks() -> Response[bytes]:
        return json(await asyncio.to_thread(_all_benchmarks, service))

    @get("/v1/benchmarks/{name:str}", opt={"scope": "tasks"})
    async def benchmark(request: AnyRequest) -> Response[bytes]:
        name = request.path_params["name"]
        found = await _found(lambda: service.benchmark(name))
        return json(
            m.BenchmarkTasks(name=found.name, sha256=found.sha256, task_ids=list(found.ids))
        )

    @get("/v1/tasks/{task_id:path}", opt={"scope": "tasks"})
    async def task(request: AnyRequest) -> Response[bytes]:
        shown = request.query_params.get("tests") == "true"
        if shown and "tests" not in caller_of(request).scopes:
            said = "tests and solutions are shown to keys with the scope tests"
            raise ErrorResponse(HTTPStatus.FORBIDDEN, "scope", said)
        task_id = request.path_params["task_id"].removeprefix("/")
        name = request.query_params.get("benchmark")
        return json(await _found(lambda: _about(service, name, task_id, shown=shown)))

    return [benchmarks, benchmark, task]


async def _found(look: Callable[[], Any]) -> Any:
    """Look something up on a thread; what is not known is not found."""
    try:
        return await asyncio.to_thread(look)
    except InputError as error:
        raise ErrorResponse(HTTPStatus.NOT_FOUND, "not_found", str(error)) from None


def _all_benchmarks(service: Service) -> list[m.BenchmarkAbout]:
    folder = None if service.settings.data is None else Path(service.settings.data)
    found = []
    for source in TABLE.values():
        try:
            find(source, None, folder)
            available = True
        except InputError:
            available = False
        found.append(
            m.BenchmarkAbout(
                name=source.name,
                summary=source.summary,
                licence=source.licence,
                tasks=source.tasks,
                available=available,
            )
        )
    return found


def _about(service: Service, name: str | None, task_id: str, *, shown: bool) -> m.TaskAbout:
    """Tell about a task; without the name of a benchmark it must be of one in use."""
    if name is None:
        name = next((one.name for one in service.loaded if _has(one, task_id)), None)
    if name is None:
        said = "no benchmark in use has it; name its benchmark, as in ?benchmark=humaneval"
        raise InputError(f"task_id {task_id[:80]!r}: {said}")
    task = service.task(name, task_id)
    return m.TaskAbout(
        task_id=task.task_id,
        benchmark=name,
        prompt=task.prompt,
        entry_point=task.entry_point,
        language=task.language,
        sha256=task.sha256,
        metadata=task.metadata,
        limits=task.limits,
        tests=task.tests if shown else None,
        canonical_solution=task.canonical_solution if shown else None,
    )


def _has(benchmark: Benchmark, task_id: str) -> bool:
    return task_id in benchmark.places or task_id in benchmark.aliases


def _health(service: Service) -> list[Any]:
    @get("/healthz", opt={"scope": None})
    async def healthz() -> Response[bytes]:
        return json(m.Status(status="ok"))

    @get("/readyz", opt={"scope": None})
    async def readyz() -> Response[bytes]:
        if service.draining:
            raise ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "draining", "the service ends", 1.0)
        if not await service.ready():
            said = "the sandbox fails again and again; proctor doctor may say why"
            raise ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "sandbox", said, 1.0)
        return json(m.Status(status="ready"))

    @get("/metrics", opt={"scope": "metrics"})
    async def metrics() -> Response[str]:
        text = service.metrics.text(
            gate=service.gate,
            sandbox=service.sandbox,
            sessions=service.notebooks.count,
            draining=service.draining,
        )
        return Response(text, media_type=PROMETHEUS)

    @get("/schema/openapi.json", opt={"scope": None})
    async def document() -> Response[bytes]:
        return Response(openapi.document(), media_type=JSON)

    @get("/schema", opt={"scope": None})
    async def page() -> Response[str]:
        return Response(openapi.page(), media_type="text/html; charset=utf-8")

    return [healthz, readyz, metrics, document, page]
