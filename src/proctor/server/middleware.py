"""The middleware that every request passes, whichever dialect it speaks.

In order: assign an id; check the Host and Origin headers; look up the API key; reject requests if
the service is draining; read the body, within bounds of size and time. While a request is answered,
its connection is watched: if the client disconnects, the work is cancelled. Afterwards the request
is counted and logged as one line.
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
"""Paths that need no key and are answered even while the service drains."""
STREAMS = frozenset({"/v1/grade/batch"})
"""Paths whose handlers read the body themselves."""
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
        state = RequestState(scope, send, self._request_id(scope))
        metrics = self._service.metrics
        metrics.in_flight += 1
        try:
            await self._admit(state, receive)
        except asyncio.CancelledError:
            if not state.gone:
                raise
        finally:
            metrics.in_flight -= 1
            self._write_down(state)

    async def _admit(self, state: "RequestState", receive: Receive) -> None:
        try:
            self._check(state)
            if state.scope["path"] in STREAMS:
                await self._app(state.scope, receive, state.send)
                return
            try:
                await self._watched(state, await self._body(state, receive), receive)
            finally:
                self._service.held_bytes -= state.bytes_in
        except ErrorResponse as refusal:
            await state.refuse(refusal)
        except Exception as error:  # noqa: BLE001  the last place where anything can be caught
            await state.refuse(error_for(error))

    def _request_id(self, scope: HTTPScope) -> str:
        """Return the request's own id if it is valid, else a new one."""
        brought = _header(scope, b"x-request-id")
        if brought is not None and REQUEST_ID.fullmatch(brought):
            return brought.decode()
        return f"{self._boot}-{next(self._numbers):x}"

    def _check(self, state: "RequestState") -> None:
        """Reject requests that fail a check of their headers, before the body is read."""
        scope = state.scope
        host = _header(scope, b"host") or b""
        if self._local and _name(host) not in LOOPBACK:
            said = "this service answers for this machine only"
            raise ErrorResponse(HTTPStatus.MISDIRECTED_REQUEST, "host", said)
        origin = _header(scope, b"origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise ErrorResponse(HTTPStatus.FORBIDDEN, "origin", "pages of other sites may not ask")
        if scope["path"] in OPEN:
            return
        state.caller = self._caller(scope)
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

    async def _body(self, state: "RequestState", receive: Receive) -> bytes:
        """Read a body that is not too large and does not take too long."""
        bounds, scope = self._service.bounds, state.scope
        length = _header(scope, b"content-length")
        if length is None and _header(scope, b"transfer-encoding") is None:
            return b""
        announced = int(length) if length and length.isdigit() and len(length) < 20 else 0  # noqa: PLR2004
        if announced > bounds.body_bytes:
            raise _too_large(bounds.body_bytes)
        self._make_room(announced)
        try:
            async with asyncio.timeout(bounds.read_seconds):
                return await self._read(state, receive)
        except TimeoutError:
            said = f"the request took more than {bounds.read_seconds:g} seconds to arrive"
            raise ErrorResponse(HTTPStatus.REQUEST_TIMEOUT, "slow", said) from None

    async def _read(self, state: "RequestState", receive: Receive) -> bytes:
        chunks: list[bytes] = []
        max_bytes = self._service.bounds.body_bytes
        while True:
            message = await receive()
            if message["type"] != "http.request":
                state.gone = True
                raise asyncio.CancelledError
            chunk = message["body"]
            chunks.append(chunk)
            state.bytes_in += len(chunk)
            self._service.held_bytes += len(chunk)
            if state.bytes_in > max_bytes:
                raise _too_large(max_bytes)
            if not message["more_body"]:
                return b"".join(chunks) if len(chunks) > 1 else chunk
            self._make_room(0)

    def _make_room(self, size: int) -> None:
        """Reject a request if all bodies held together would exceed the bound."""
        if self._service.held_bytes + size > self._service.bounds.held_bytes:
            retry = self._service.gate.retry_after()
            said = "too much is being answered already"
            raise ErrorResponse(HTTPStatus.TOO_MANY_REQUESTS, "busy", said, retry)

    async def _watched(self, state: "RequestState", body: bytes, receive: Receive) -> None:
        """Answer a request; cancel it if its client disconnects."""
        sent = False

        async def give() -> HTTPRequestEvent:
            nonlocal sent
            if sent:
                await asyncio.Event().wait()  # _wait_for_end watches for the disconnect
            sent = True
            return HTTPRequestEvent(type="http.request", body=body, more_body=False)

        if state.scope["method"] in BODILESS:
            await self._app(state.scope, give, state.send)
            return
        this = asyncio.current_task()
        watch = asyncio.ensure_future(_wait_for_end(state, receive, this))
        try:
            await self._app(state.scope, give, state.send)
        finally:
            watch.cancel()

    def _write_down(self, state: "RequestState") -> None:
        scope = state.scope
        seconds = time.monotonic() - state.begun
        route = str(scope.get("path_template") or "other")
        status = state.status or (0 if state.gone else HTTPStatus.INTERNAL_SERVER_ERROR)
        self._service.metrics.answered(scope["method"], route, int(status), seconds)
        if self._log is not None:
            client = scope.get("client")
            self._log.add(
                time=round(time.time(), 3),
                id=state.scope_state["request_id"],
                client=None if client is None else client[0],
                key=state.caller.name or None,
                method=scope["method"],
                path=scope["path"][:200],
                status=int(status),
                code=state.scope_state.get("code"),
                gone=state.gone,
                seconds=round(seconds, 4),
                bytes_in=state.bytes_in,
                bytes_out=state.bytes_out,
            )


class RequestState:
    """One request, its caller, and how far its answer has got."""

    def __init__(self, scope: HTTPScope, send: Send, request_id: str) -> None:
        self.scope = scope
        self.scope_state: dict[str, Any] = scope.setdefault("state", {})
        self.scope_state["request_id"] = request_id
        self.caller = ANYBODY
        self.begun = time.monotonic()
        self.status = 0
        self.bytes_in = self.bytes_out = 0
        self.done = self.gone = False
        self._send = send

    @property
    def caller(self) -> Caller:
        """The owner of the key that the request carries."""
        caller: Caller = self.scope_state["caller"]
        return caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self.scope_state["caller"] = caller

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", str(self.scope_state["request_id"]).encode())
            message["headers"] = [*message["headers"], *HEADERS, own]
        elif message["type"] == "http.response.body":
            self.bytes_out += len(message["body"])
            self.done = not message["more_body"]
        await self._send(message)

    async def refuse(self, refusal: ErrorResponse) -> None:
        """Send an error, unless an answer has begun; the rest of the body is not read."""
        if self.status:
            raise RuntimeError(f"an answer broke off: {refusal.detail}")
        self.scope_state["code"] = refusal.code
        body = refusal.body(str(self.scope_state["request_id"]))
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
    state: RequestState, receive: Receive, answering: asyncio.Task[None] | None
) -> None:
    """Cancel the answer if the client disconnects before it is complete."""
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            pass
        if not state.done and answering is not None:
            state.gone = True
            answering.cancel()


def _too_large(max_bytes: int) -> ErrorResponse:
    said = f"a request may have at most {max_bytes} bytes"
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
