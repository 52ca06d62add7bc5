"""The dialect of Piston: its paths, its JSON, its words for what went wrong.

Clients see the responses that Piston would give; Proctor runs the programs. A table in
docs/guides/service-piston.md lists where the two differ, and why.

    requests    a body → a record, or the first error in it
    runtimes    the languages and their names
    versions    the version that a selector picks
    running     run a program
    contests    judge a submission to a contest, as open-r1 expects
    answers     records → JSON
"""

import asyncio
import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response, Router, get, post, route
from litestar.exceptions import HTTPException
from litestar.types import ControllerRouterHandler

from proctor.server.compat.piston import contests, requests, running
from proctor.server.compat.piston.answers import Ran
from proctor.server.compat.piston.requests import Wrong
from proctor.server.compat.piston.runtimes import Runtime, Runtimes, packages, shown
from proctor.server.errors import JSON, error_for
from proctor.server.service import Service

AnyRequest = Request[Any, Any, Any]

PREFIX = "/api/v2"
GRACE_SECONDS = 5.0
"""How long a request waits in the queue, on top of its own time limits. As in Piston, it waits
instead of being rejected, because open-r1 retries only a few times and then scores a failure."""
LARGE = 1 << 18
NOT_JSON = "requests must be of type application/json"
READ_ONLY = "packages are installed on the host of this service, not over it"


def routes(service: Service) -> Sequence[ControllerRouterHandler]:
    """Return the paths of the dialect."""
    handlers: dict[int | type[Exception], Any] = {HTTPException: refuse, Exception: refuse}
    known = Runtimes(service.sandbox)
    return [
        Router(
            PREFIX,
            route_handlers=[*_asking(known), _executing(service, known)],
            exception_handlers=handlers,
            include_in_schema=False,
            request_max_body_size=None,  # RequestMiddleware bounds it
        )
    ]


def _asking(known: Runtimes) -> list[ControllerRouterHandler]:
    @get("/runtimes", opt={"scope": "execute"})
    async def list_runtimes() -> Response[bytes]:
        return _answer(shown(await asyncio.to_thread(known.all)))

    @get("/packages", opt={"scope": "execute"})
    async def list_packages() -> Response[bytes]:
        return _answer(packages(await asyncio.to_thread(known.all)))

    @route("/packages", opt={"scope": "execute"}, http_method=["POST", "DELETE"])
    async def change_packages() -> Response[bytes]:
        raise Wrong(READ_ONLY, status=HTTPStatus.METHOD_NOT_ALLOWED)

    return [list_runtimes, list_packages, change_packages]


def _executing(service: Service, known: Runtimes) -> ControllerRouterHandler:
    @post("/execute", opt={"scope": "execute"})
    async def execute(request: AnyRequest) -> Response[bytes]:
        if not request.headers.get("content-type", "").startswith(JSON):
            raise Wrong(NOT_JSON, status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        body = await request.body()
        parse = requests.parse
        parsed = await asyncio.to_thread(parse, body) if len(body) > LARGE else parse(body)
        addressed = requests.address(parsed)
        runtime = await asyncio.to_thread(known.find, addressed.language, addressed.version)
        if runtime is None:
            raise Wrong(f"{addressed.language}-{addressed.version} runtime is unknown")
        asked = await asyncio.to_thread(
            requests.execute, addressed, service.max_seconds, service.max_memory_bytes
        )
        ran = await service.gate.run(
            lambda: _run(service, runtime, asked),
            key=str(request.scope["state"]["caller"].name),
            wait_seconds=asked.seconds + GRACE_SECONDS,
            same=("piston", hashlib.sha256(body).digest()),
        )
        return _answer(ran)

    return execute


def _run(service: Service, runtime: Runtime, asked: requests.Execute) -> Ran:
    contest = contests.contest_of(asked) if runtime.name.contest else None
    if contest is not None:
        return contests.judge(service, runtime, asked, contest)
    ran = running.run(service, runtime, asked)
    if runtime.name.contest and ran.compile is msgspec.UNSET:
        return msgspec.structs.replace(ran, compile=contests.SKIPPED)
    return ran


def refuse(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Send an error in the dialect's format: an object with `message`, or an empty body."""
    state = request.scope.get("state", {})
    if isinstance(error, Wrong):
        state["code"] = "invalid"
        body = b"" if error.said is None else msgspec.json.encode(error.said)
        return Response(body, status_code=error.status, media_type=JSON)
    refusal = error_for(error)
    state["code"] = refusal.code
    status, said = refusal.status, refusal.detail
    if status == HTTPStatus.METHOD_NOT_ALLOWED:  # it knows no such path then
        status, said = HTTPStatus.NOT_FOUND, HTTPStatus.NOT_FOUND.phrase
    body = msgspec.json.encode({"message": said})
    return Response(body, status_code=status, media_type=JSON, headers=refusal.headers)


def _answer(record: Any) -> Response[bytes]:
    return Response(msgspec.json.encode(record), status_code=HTTPStatus.OK, media_type=JSON)
