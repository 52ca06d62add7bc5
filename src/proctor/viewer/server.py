"""The pages over HTTP, on the loopback interface, for reading only.

What is shown was written by models, so every answer says that a page may load our own script and
style sheet and nothing else. Requests must name a host that is this machine: a page elsewhere that
points its own name here (DNS rebinding) is refused.
"""

import socket
import threading
import traceback
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec
import uvicorn
from litestar import Litestar, Request, Response, get
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from proctor.errors import InputError, ProctorError, boundary
from proctor.viewer.pages import compare, home, run, sample, watched
from proctor.viewer.site import HERE, Site

HOST = "127.0.0.1"
NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
ASSETS = {
    "viewer.js": "text/javascript",
    "viewer.css": "text/css",
    "icon.svg": "image/svg+xml",
}
BACKLOG = 128
MAX_NUMBER = 1 << 40
"""Of anything that is counted here."""


class Guard:
    """Refuses requests for other hosts, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return  # nothing else is offered

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = [name.encode() for name in HEADERS]
                kept = [pair for pair in message["headers"] if pair[0].lower() not in names]
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*kept, *ours]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) == 1 and _host(hosts[0].decode("latin-1")) in NAMES:
            await self._app(scope, receive, guarded)
            return
        refusal = Response(
            "This server answers for this machine only.\n",
            status_code=HTTPStatus.MISDIRECTED_REQUEST,
            media_type="text/plain",
        )
        await refusal.to_asgi_response(None, Request(scope))(scope, receive, guarded)


def _host(value: str) -> str:
    """Return the name in a Host header, without its port."""
    if value.startswith("["):
        return value.partition("]")[0] + "]"
    return value.partition(":")[0].lower()


def application(site: Site) -> Guard:
    """Return the server's application."""

    def answer(request: Request[Any, Any, Any], error: Exception) -> Response[str]:
        del request
        return _trouble(site, error)

    handlers: dict[int | type[Exception], Any] = {
        HTTPException: answer,
        Exception: answer,
    }
    return Guard(
        Litestar(
            route_handlers=[*_pages(site), *_data(site), _asset],
            exception_handlers=handlers,
            openapi_config=None,
            logging_config=None,
        )
    )


def _pages(site: Site) -> list[Any]:
    @get("/", sync_to_thread=True)
    def all_runs() -> Response[str]:
        return _html(home.render(site))

    @get("/watch", sync_to_thread=True)
    def checkpoints() -> Response[str]:
        return _html(watched.render(site))

    @get("/run", sync_to_thread=True)
    def one_run(request: Request[Any, Any, Any]) -> Response[str]:
        ask = _Query(request)
        page = run.render(
            site,
            ask.text("run"),
            order=ask.text("order", ""),
            wanted=ask.text("wanted", ""),
            bucket=ask.text("bucket", ""),
            page=ask.number("page", 1),
        )
        return _html(page)

    @get("/sample", sync_to_thread=True)
    def one_sample(request: Request[Any, Any, Any]) -> Response[str]:
        ask = _Query(request)
        return _html(sample.render(site, ask.text("run"), ask.text("task"), ask.number("sample")))

    @get("/diff", sync_to_thread=True)
    def two_samples(request: Request[Any, Any, Any]) -> Response[str]:
        ask = _Query(request)
        numbers = ask.number("sample"), ask.number("other")
        run, task, against = ask.text("run"), ask.text("task"), ask.text("against", "")
        return _html(sample.diff(site, run, task, numbers, against))

    @get("/compare", sync_to_thread=True)
    def several_runs(request: Request[Any, Any, Any]) -> Response[str]:
        return _html(compare.render(site, request.query_params.getall("run", [])))

    return [all_runs, checkpoints, one_run, one_sample, two_samples, several_runs]


def _data(site: Site) -> list[Any]:
    @get("/matrix", sync_to_thread=True)
    def rows(request: Request[Any, Any, Any]) -> Response[bytes]:
        ask = _Query(request)
        made = run.matrix(
            site,
            ask.text("run"),
            order=ask.text("order", ""),
            wanted=ask.text("wanted", ""),
            start=ask.number("start", 0),
            count=ask.number("count", 100),
        )
        return _json(made)

    @get("/version", sync_to_thread=True)
    def version(request: Request[Any, Any, Any]) -> Response[bytes]:
        name = _Query(request).text("run", "")
        if name:
            return _json(run.progress(site, name))
        return _json({"version": home.version(site)})

    return [rows, version]


@get("/static/{name:str}", sync_to_thread=True)
def _asset(request: Request[Any, Any, Any]) -> Response[bytes]:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(status_code=HTTPStatus.NOT_FOUND, detail="there is no such file")
    return Response((HERE / "static" / name).read_bytes(), media_type=ASSETS[name])


class _Query:
    """What a request asks for."""

    def __init__(self, request: Request[Any, Any, Any]) -> None:
        self._values = request.query_params

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; one without a default must be there."""
        value = self._values.get(name, default)
        if value is None:
            raise InputError(f"the address lacks {name}=…")
        return str(value)

    def number(self, name: str, default: int | None = None) -> int:
        """Return a number from 0 on."""
        value = self.text(name, None if default is None else str(default))
        if not (value.isascii() and value.isdigit()) or len(value) > len(str(MAX_NUMBER)):
            raise InputError(f"{name}={value[:40]} in the address is no number")
        return min(int(value), MAX_NUMBER)


def _html(text: str, status: int = HTTPStatus.OK) -> Response[str]:
    # Half a surrogate pair, which UTF-8 cannot have, is spelt out.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return Response(whole, status_code=status, media_type="text/html; charset=utf-8")


def _json(value: Any) -> Response[bytes]:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _trouble(site: Site, error: Exception) -> Response[str]:
    if isinstance(error, HTTPException):
        title = HTTPStatus(error.status_code).phrase
        return _html(site.trouble(title, error.detail or title), error.status_code)
    if isinstance(error, ProctorError):
        return _html(site.trouble("Nothing to show", str(error)), HTTPStatus.NOT_FOUND)
    traceback.print_exception(error)
    said = "This is a defect of Proctor; the terminal that it was started in says more."
    return _html(site.trouble("This page failed", said), HTTPStatus.INTERNAL_SERVER_ERROR)


def listen(port: int) -> socket.socket:
    """Take a port of the loopback interface; 0 takes any that is free."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    then = "name another with --port, or any that is free with --port 0"
    try:
        with boundary(InputError, f"cannot listen on {HOST}:{port}", then):
            server.bind((HOST, port))
            server.listen(BACKLOG)  # who comes before we answer waits
    except BaseException:
        server.close()
        raise
    return server


def serve(
    site: Site, server: socket.socket, *, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Answer requests until interrupted."""
    address = f"http://{HOST}:{server.getsockname()[1]}/"
    config = uvicorn.Config(
        application(site), log_level="error", server_header=False, access_log=False, lifespan="off"
    )
    say(f"showing {site.catalogue.folder} at {address} (Ctrl-C ends it)")
    if open_browser:
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    uvicorn.Server(config).run(sockets=[server])
