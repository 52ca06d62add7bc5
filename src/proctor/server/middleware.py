"""Every request goes through here, whichever dialect it speaks, before anybody acts on it.

In order: it gets an id; it must mean this host and must not come from another site's page; its key
is looked up; a service that ends refuses it; its body is read, within bounds of size and time.
While it is answered its connection is watched: if the client goes, the work goes, too. Afterwards
one line is logged and counted.
"""

import asyncio
import itertools
import re
import secrets
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from litestar.enums import ScopeType
from litestar.types import (
    ASGIApp,
    HTTPRequestEvent,
    HTTPScope,
    Message,
    Receive,
    Scope,
    Send,
)

from proctor.server.errors import JSON, ErrorResponse, error_for
from proctor.server.keys import ANYBODY, Caller
from proctor.server.log import AccessLog
from proctor.server.service import Service

OPEN = frozenset({"/healthz", "/readyz", "/v1/ping", "/schema", "/schema/openapi.json"})
"""What needs no key, and is answered to the end."""
STREAMS = frozenset({"/v1/grade/batch"})
"""Whose bodies are read by who answers."""
BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
]


class RequestMiddleware:
    """The application as the server sees it."""

    def __init__(
        self, app: ASGIApp, service: Service, *, log: AccessLog | None = None, local: bool = False
    ) -> None:
        """A `local` service answers only to names of the loopback interface."""
        self.bounds = service.bounds
        self._app = app
        self._service = service
        self._log = log
        self._local = local
        self._boot = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return  # nothing else is offered
        visit = RequestState(scope, send, self._request_id(scope))
        metrics = self._service.metrics
        metrics.in_flight += 1
        try:
            await self._admit(visit, receive)
        except asyncio.CancelledError:
            if not visit.gone:
                raise
        finally:
            metrics.in_flight -= 1
            self._write_down(visit)

    async def _admit(self, visit: "RequestState", receive: Receive) -> None:
        try:
            self._check(visit)
            if visit.scope["path"] in STREAMS:
                await self._app(visit.scope, receive, visit.send)
                return
            try:
                await self._watched(visit, await self._body(visit, receive), receive)
            finally:
                self._service.held_bytes -= visit.bytes_in
        except ErrorResponse as refusal:
            await visit.refuse(refusal)
        except Exception as error:  # noqa: BLE001  the last place where anything can be caught
            await visit.refuse(error_for(error))

    def _request_id(self, scope: HTTPScope) -> str:
        """Take the id that the request brings, if it is one, or make one."""
        brought = _header(scope, b"x-request-id")
        if brought is not None and REQUEST_ID.fullmatch(brought):
            return brought.decode()
        return f"{self._boot}-{next(self._numbers):x}"

    def _check(self, visit: "RequestState") -> None:
        """Refuse who has no business here, before anything of the body is read."""
        scope = visit.scope
        host = _header(scope, b"host") or b""
        if self._local and _name(host) not in LOOPBACK:
            said = "this service answers for this machine only"
            raise ErrorResponse(HTTPStatus.MISDIRECTED_REQUEST, "host", said)
        origin = _header(scope, b"origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise ErrorResponse(HTTPStatus.FORBIDDEN, "origin", "pages of other sites may not ask")
        if scope["path"] in OPEN:
            return
        visit.caller = self._caller(scope)
        if self._service.draining:
            said = "the service is about to end"
            raise ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "draining", said, 1.0)

    def _caller(self, scope: HTTPScope) -> Caller:
        keys = self._service.keys
        if keys is None:
            return ANYBODY
        kind, _, secret = (_header(scope, b"authorization") or b"").partition(b" ")
        given = secret.strip() if kind.lower() == b"bearer" else _header(scope, b"x-api-key")
        caller = keys.find(given) if given else None
        if caller is None:
            said = "send a key of this service as `Authorization: Bearer KEY`"
            raise ErrorResponse(HTTPStatus.UNAUTHORIZED, "key", said)
        return caller

    async def _body(self, visit: "RequestState", receive: Receive) -> bytes:
        """Read a body that is not too large and does not take too long."""
        bounds, scope = self._service.bounds, visit.scope
        length = _header(scope, b"content-length")
        if length is None and _header(scope, b"transfer-encoding") is None:
            return b""
        announced = int(length) if length and length.isdigit() and len(length) < 20 else 0  # noqa: PLR2004
        if announced > bounds.body_bytes:
            raise _too_large(bounds.body_bytes)
        self._make_room(announced)
        try:
            async with asyncio.timeout(bounds.read_seconds):
                return await self._read(visit, receive)
        except TimeoutError:
            said = f"the request took more than {bounds.read_seconds:g} seconds to arrive"
            raise ErrorResponse(HTTPStatus.REQUEST_TIMEOUT, "slow", said) from None

    async def _read(self, visit: "RequestState", receive: Receive) -> bytes:
        chunks: list[bytes] = []
        most = self._service.bounds.body_bytes
        while True:
            message = await receive()
            if message["type"] != "http.request":
                visit.gone = True
                raise asyncio.CancelledError
            chunk = message["body"]
            chunks.append(chunk)
            visit.bytes_in += len(chunk)
            self._service.held_bytes += len(chunk)
            if visit.bytes_in > most:
                raise _too_large(most)
            if not message["more_body"]:
                return b"".join(chunks) if len(chunks) > 1 else chunk
            self._make_room(0)

    def _make_room(self, size: int) -> None:
        """Refuse what would make all requests together too large."""
        if self._service.held_bytes + size > self._service.bounds.held_bytes:
            retry = self._service.gate.retry_after()
            said = "too much is being answered already"
            raise ErrorResponse(HTTPStatus.TOO_MANY_REQUESTS, "busy", said, retry)

    async def _watched(self, visit: "RequestState", body: bytes, receive: Receive) -> None:
        """Have a request answered, unless its client goes."""
        sent = False

        async def give() -> HTTPRequestEvent:
            nonlocal sent
            if sent:
                await asyncio.Event().wait()  # whether the client goes is seen to below
            sent = True
            return HTTPRequestEvent(type="http.request", body=body, more_body=False)

        if visit.scope["method"] in BODILESS:
            await self._app(visit.scope, give, visit.send)
            return
        this = asyncio.current_task()
        watch = asyncio.ensure_future(_wait_for_end(visit, receive, this))
        try:
            await self._app(visit.scope, give, visit.send)
        finally:
            watch.cancel()

    def _write_down(self, visit: "RequestState") -> None:
        scope = visit.scope
        seconds = time.monotonic() - visit.begun
        route = str(scope.get("path_template") or "other")
        status = visit.status or (0 if visit.gone else HTTPStatus.INTERNAL_SERVER_ERROR)
        self._service.metrics.answered(scope["method"], route, int(status), seconds)
        if self._log is not None:
            client = scope.get("client")
            self._log.add(
                time=round(time.time(), 3),
                id=visit.state["request_id"],
                client=None if client is None else client[0],
                key=visit.caller.name or None,
                method=scope["method"],
                path=scope["path"][:200],
                status=int(status),
                code=visit.state.get("code"),
                gone=visit.gone,
                seconds=round(seconds, 4),
                bytes_in=visit.bytes_in,
                bytes_out=visit.bytes_out,
            )


class RequestState:
    """One request and what became of it."""

    def __init__(self, scope: HTTPScope, send: Send, request_id: str) -> None:
        self.scope = scope
        self.state: dict[str, Any] = scope.setdefault("state", {})
        self.state["request_id"] = request_id
        self.caller = ANYBODY
        self.begun = time.monotonic()
        self.status = 0
        self.bytes_in = self.bytes_out = 0
        self.done = self.gone = False
        self._send = send

    @property
    def caller(self) -> Caller:
        """Who asks."""
        caller: Caller = self.state["caller"]
        return caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self.state["caller"] = caller

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", str(self.state["request_id"]).encode())
            message["headers"] = [*message["headers"], *HEADERS, own]
        elif message["type"] == "http.response.body":
            self.bytes_out += len(message["body"])
            self.done = not message["more_body"]
        await self._send(message)

    async def refuse(self, refusal: ErrorResponse) -> None:
        """Answer that there is no answer, unless one has begun; the rest of a body is not read."""
        if self.status:
            raise RuntimeError(f"an answer broke off: {refusal.detail}")
        self.state["code"] = refusal.code
        body = refusal.body(str(self.state["request_id"]))
        headers = [
            (b"content-type", JSON.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *((name.encode(), value.encode()) for name, value in refusal.headers.items()),
        ]
        if refusal.status == HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b"Bearer"))
        await self.send(
            {"type": "http.response.start", "status": int(refusal.status), "headers": headers}
        )
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


async def _wait_for_end(
    visit: RequestState, receive: Receive, answering: asyncio.Task[None] | None
) -> None:
    """Cancel an answer that nobody waits for any more."""
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            pass
        if not visit.done and answering is not None:
            visit.gone = True
            answering.cancel()


def _too_large(most: int) -> ErrorResponse:
    said = f"a request may have at most {most} bytes"
    return ErrorResponse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", said)


def _header(scope: HTTPScope, name: bytes) -> bytes | None:
    """Return the first header of a name, if there is one."""
    for key, value in scope["headers"]:
        if key == name:
            return value
    return None


def _name(host: bytes) -> str:
    """Return the name in a Host header, without its port."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text.partition(":")[0]
