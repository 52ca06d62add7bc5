"""The dialect of SandboxFusion: its paths, its JSON, its words for what went wrong.

Clients see the responses that SandboxFusion would give; Proctor runs the programs. A table in
docs/guides/service-sandboxfusion.md lists where the two differ, and why.

    fields, requests   a body → a record, or a list of the errors in it
    running            /run_code
    jupyter            /run_jupyter
    datasets           the problems, and their prompts
    extracting         which lines of a completion are code
    submitting         /submit
    answers            records → JSON
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response, Router, get, post
from litestar.exceptions import HTTPException
from litestar.types import ControllerRouterHandler

from proctor.server.compat.sandboxfusion import datasets, jupyter, requests, running
from proctor.server.compat.sandboxfusion.fields import Unprocessable, Unreadable, parse
from proctor.server.compat.sandboxfusion.submitting import Submissions, metrics
from proctor.server.errors import JSON, error_for
from proctor.server.service import Service

T = TypeVar("T")
AnyRequest = Request[Any, Any, Any]

GRACE_SECONDS = 5.0
"""How long a request waits in the queue, on top of its own time limits. After three 504 responses
in a row verl scores a sample as failed, so no request is rejected earlier."""
LARGE = 1 << 18
ASKING_SECONDS = 60.0
"""How long a request about datasets waits in the queue."""


def routes(service: Service) -> Sequence[ControllerRouterHandler]:
    """Return the paths of the dialect."""
    handlers: dict[int | type[Exception], Any] = {HTTPException: _refuse, Exception: _refuse}
    found = [*_running(service), *_asking(service), *_judging(service)]
    return [
        Router(
            "/",
            route_handlers=found,
            exception_handlers=handlers,
            include_in_schema=False,
            request_max_body_size=None,  # RequestMiddleware bounds it
        )
    ]


def _running(service: Service) -> Sequence[ControllerRouterHandler]:
    @get("/v1/ping", opt={"scope": None})
    async def ping() -> Response[bytes]:
        return _json(b'"pong"')

    @post("/run_code", opt={"scope": "execute"})
    async def run_code(request: AnyRequest) -> Response[bytes]:
        body = await request.body()
        asked = requests.run_code(await _parsed(request, body), service.max_seconds)

        ran = await service.gate.run(
            lambda: running.run(service, asked),
            key=_key(request),
            wait_seconds=asked.seconds + GRACE_SECONDS,
            same=("run_code", hashlib.sha256(body).digest()),
        )
        return _answer(ran)

    @post("/run_jupyter", opt={"scope": "execute"})
    async def run_jupyter(request: AnyRequest) -> Response[bytes]:
        body = await _parsed(request, await request.body())
        asked = requests.run_jupyter(body, service.max_seconds)
        ran = await service.gate.run(
            lambda: jupyter.run(service, asked),
            key=_key(request),
            wait_seconds=max(asked.total_timeout, 0.0) + GRACE_SECONDS,
        )
        return _answer(ran)

    return [ping, run_code, run_jupyter]


def _asking(service: Service) -> Sequence[ControllerRouterHandler]:
    async def ask(
        request: AnyRequest, read: Callable[[Any, float], T], answer: Callable[[T], Any]
    ) -> Response[bytes]:
        """Read a request and have it answered by a thread."""
        asked = read(await _parsed(request, await request.body()), service.max_seconds)
        work = lambda: msgspec.json.encode(answer(asked))  # noqa: E731
        waiting = service.gate.run(work, key=_key(request), wait_seconds=ASKING_SECONDS)
        return _json(await waiting)

    @get("/list_datasets", opt={"scope": "tasks"})
    async def list_datasets(request: AnyRequest) -> Response[bytes]:
        work = lambda: datasets.names(service)  # noqa: E731
        return _answer(await service.gate.run(work, key=_key(request), wait_seconds=ASKING_SECONDS))

    @post("/list_ids", opt={"scope": "tasks"})
    async def list_ids(request: AnyRequest) -> Response[bytes]:
        return await ask(request, requests.get_prompts, lambda asked: datasets.ids(service, asked))

    @post("/get_prompts", opt={"scope": "tasks"})
    async def get_prompts(request: AnyRequest) -> Response[bytes]:
        def answer(asked: requests.GetPrompts) -> Any:
            found = datasets.problems(service, asked)
            return [datasets.shown(problem, asked.config) for problem in found]

        return await ask(request, requests.get_prompts, answer)

    @post("/get_prompt_by_id", opt={"scope": "tasks"})
    async def get_prompt_by_id(request: AnyRequest) -> Response[bytes]:
        def answer(asked: requests.GetPrompt) -> Any:
            return datasets.shown(datasets.problem(service, asked), asked.config)

        return await ask(request, requests.get_prompt, answer)

    return [list_datasets, list_ids, get_prompts, get_prompt_by_id]


def _judging(service: Service) -> Sequence[ControllerRouterHandler]:
    submissions = Submissions(service.engine, service.sandbox, service.metrics)

    @post("/submit", opt={"scope": "grade"})
    async def submit(request: AnyRequest) -> Response[bytes]:
        body = await request.body()
        asked = requests.submit(await _parsed(request, body), service.max_seconds)

        def judge() -> Any:
            wanted = requests.GetPrompt(dataset=asked.dataset, config=asked.config, id=asked.id)
            problem = datasets.problem(service, wanted)
            return submissions.judge(problem, asked.completion, asked.config)

        seconds = sum(
            requests.USUAL_SECONDS if limit is None else max(limit, 0.0)
            for limit in (asked.config.compile_timeout, asked.config.run_timeout)
        )
        judged = await service.gate.run(
            judge,
            key=_key(request),
            wait_seconds=seconds + GRACE_SECONDS,
            same=("submit", hashlib.sha256(body).digest()),
        )
        return _answer(judged)

    @post("/get_metrics", opt={"scope": "grade"})
    async def get_metrics(request: AnyRequest) -> Response[bytes]:
        body = await _parsed(request, await request.body())
        return _answer(metrics(requests.get_metrics(body, service.max_seconds, results=True)))

    @post("/get_metrics_function", opt={"scope": "tasks"})
    async def get_metrics_function(request: AnyRequest) -> Response[bytes]:
        body = await _parsed(request, await request.body())
        requests.get_metrics(body, service.max_seconds, results=False)
        return _answer({"function": None})

    return [submit, get_metrics, get_metrics_function]


async def _parsed(request: AnyRequest, body: bytes) -> Any:
    """Read a body as JSON, a large one on a thread."""
    kind = request.headers.get("content-type", "")
    if len(body) > LARGE:
        return await asyncio.to_thread(parse, body, kind)
    return parse(body, kind)


def _key(request: AnyRequest) -> str:
    """Return the name of the caller's key, which the queue is fair between."""
    return str(request.scope["state"]["caller"].name)


def _answer(record: Any) -> Response[bytes]:
    return _json(msgspec.json.encode(record))


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(body, status_code=status, media_type=JSON, headers=headers)


def _refuse(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Send an error in the dialect's format: an object with `detail` only."""
    match error:
        case Unprocessable():
            return _json(error.body(), error.status)
        case Unreadable():
            return _json(b'{"detail":"There was an error parsing the body"}', 400)
    refusal = error_for(error)
    request.scope["state"]["code"] = refusal.code
    body = msgspec.json.encode({"detail": refusal.detail})
    status = HTTPStatus(refusal.status)
    return _json(body, status, refusal.headers)
