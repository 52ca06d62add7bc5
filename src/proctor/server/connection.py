"""The server below the application: connections that cannot be held open, and an end in order.

Uvicorn has no limit on how long or how large the head of a request may be, nor on how long a
client may take to read an answer; `Connection` adds these. Being asked to end (SIGTERM, Ctrl-C)
lets what was accepted finish and takes no more; being asked twice ends it now.
"""

import asyncio
import os
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from proctor.errors import InputError, boundary
from proctor.server.middleware import RequestMiddleware
from proctor.server.service import Service

BACKLOG = 2048
DESCRIPTORS = 1 << 16
"""A connection needs one, an open notebook six."""
KEEP_ALIVE_SECONDS = 30
STOPPED_NOW = 130
NOTICE = b"proctor: finishing what was accepted; once more stops now\n"


class Connection(HttpToolsProtocol):
    """One connection; bounds are those of the application."""

    app: RequestMiddleware
    _head_bytes = 0
    _answering: RequestResponseCycle | None = None
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; close the connection if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.app.bounds.connections:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._stop_timers()
        super().connection_lost(exc)
        answering = self._answering  # uvicorn tells only the last request that came
        if answering is not None and not answering.response_complete:
            answering.disconnected = True
            answering.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that goes on for too long is refused."""
        if self._head_timer is not None or self._between():
            if self._head_timer is None:
                self._await_head()
            self._head_bytes += len(data)
        if self.parser is None or self.transport.is_closing():
            return
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > self.app.bounds.header_bytes:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Accept a request whose head is within bounds."""
        over = self._head_size() > self.app.bounds.header_bytes
        self._stop_head()
        if over:
            raise ValueError("the head of the request is too large")
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Wait for the client to read, within a time limit."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.app.bounds.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the time limit: the client has read."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _between(self) -> bool:
        """Say whether what comes now belongs to a new request."""
        return self.cycle is None or self.cycle.response_complete

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self.app.bounds.read_seconds, self._refuse_head)

    def _refuse_head(self) -> None:
        """Close a connection whose request head is too large or too slow."""
        self._stop_head()
        if not self.transport.is_closing():
            self.send_400_response("The head of the request is too large or too slow.")

    def _stop_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_timers(self) -> None:
        self._stop_head()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class Server(uvicorn.Server):
    """Uvicorn, but asked to end it first finishes what it has accepted."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def on_tick(self, counter: int) -> bool:
        """End when there is nothing left to do."""
        if self._service.draining and not self._service.metrics.in_flight:
            return True
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._service.draining:
            os._exit(STOPPED_NOW)  # keepers end when we do, and with them all that runs
        self._service.draining = True
        os.write(2, NOTICE)


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port; 0: any free port."""
    then = "name another with --port, or any that is free with --port 0"
    with boundary(InputError, f"cannot listen on {host}:{port}", then):
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        server = socket.socket(family, socket.SOCK_STREAM)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
            server.listen(BACKLOG)
        except BaseException:
            server.close()
            raise
    return server


def serve(middleware: RequestMiddleware, service: Service, server: socket.socket) -> None:
    """Answer requests until asked to end."""
    _have_descriptors()
    options: dict[str, Any] = {
        "http": Connection,
        "ws": "none",
        "lifespan": "off",
        "log_level": "critical",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "backlog": BACKLOG,
    }
    Server(uvicorn.Config(middleware, **options), service).run(sockets=[server])


def _have_descriptors() -> None:
    """Raise the soft limit on file descriptors to DESCRIPTORS, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
