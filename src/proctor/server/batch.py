"""JSON lines in, JSON lines out, each as soon as it is ready.

A line is read only when there is room for its work, and work begins only while the client reads
its answers, so a stream may be endless and nobody holds more than a few lines of it. What is wrong
with a line is said in its place; the others go on.
"""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

from litestar.types import HTTPRequestEvent, HTTPScope, Receive, Send

from proctor.client.schema import BatchAnswer, BatchLine, decode
from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.records.limits import MIB
from proctor.server.errors import ErrorResponse, error_for
from proctor.server.grade import grade_one, grading_plan
from proctor.server.queue import QueueFull, QueueTimeout
from proctor.server.service import Service

LINES = "application/x-ndjson"
KNOWN_TYPES = (LINES, "application/jsonl", "application/json-lines", "application/jsonlines")
LANES_PER_WORKER = 4
UNREAD_BYTES = 4 * MIB
"""How much of the answers may wait for a client that first sends and then reads."""
PAUSE = 0.05
"""Seconds after which it is looked again whether there is room for more."""


class _Gone(Exception):
    """The client is no more."""


class Batch:
    """One stream of lines that is being answered."""

    def __init__(self, service: Service, scope: HTTPScope, receive: Receive, send: Send) -> None:
        self._service = service
        self._caller = scope["state"]["caller"]
        self._scope = scope
        self._receive = receive
        self._send = send
        self._room = asyncio.Semaphore(LANES_PER_WORKER * service.workers)
        self._answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._heard: asyncio.Queue[HTTPRequestEvent] = asyncio.Queue(maxsize=1)
        self._unread = 0
        self._read_on = asyncio.Event()

    async def answer(self) -> None:
        """Answer all lines."""
        self._check()
        start: Any = {
            "type": "http.response.start",
            "status": int(HTTPStatus.OK),
            "headers": [(b"content-type", LINES.encode())],
        }
        await self._send(start)
        gone = False
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write())
                hearing = group.create_task(self._hear())
                await self._read(group)
                hearing.cancel()
        except* _Gone:
            gone = True
        if not gone:
            await self._body(b"", more=False)

    def _check(self) -> None:
        """Refuse a stream before it begins."""
        if self._scope["method"] != "POST":
            raise ErrorResponse(
                HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "send it by POST"
            )
        headers = dict(self._scope["headers"])
        kind = headers.get(b"content-type", b"").decode("latin-1")
        given = kind.partition(";")[0].strip().lower()
        if given not in KNOWN_TYPES:
            said = f"send it as {LINES}"
            raise ErrorResponse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media_type", said)
        gate = self._service.gate
        if gate.is_full(self._caller.name):
            raise QueueFull(gate.retry_after())

    async def _hear(self) -> None:
        """Take what comes, one message ahead of what is read, and notice if the client goes."""
        while (message := await self._receive())["type"] == "http.request":
            await self._heard.put(message)
        raise _Gone

    async def _read(self, group: asyncio.TaskGroup) -> None:
        """Begin work on lines as they come, and wait until all of it is done."""
        work: set[asyncio.Task[None]] = set()
        number = 0
        try:
            async for line in self._lines():
                await self._room.acquire()
                self._service.held_bytes += len(line)
                task = group.create_task(self._work(number, line))
                work.add(task)
                task.add_done_callback(work.discard)
                number += 1
        except (InputError, TimeoutError) as error:
            said = str(error) or f"nothing came for {self._service.bounds.idle_seconds:g} seconds"
            await self._give(_wrong(number, ErrorResponse(HTTPStatus.OK, "stream", said)))
        if work:
            await asyncio.wait(work)
        await self._answers.put(None)

    async def _lines(self) -> AsyncIterator[bytes]:
        bounds = self._service.bounds
        rest = bytearray()
        more = True
        while more:
            while self._service.held_bytes > bounds.held_bytes:  # noqa: ASYNC110  of all streams
                await asyncio.sleep(PAUSE)
            async with asyncio.timeout(bounds.idle_seconds):
                message = await self._heard.get()
            rest += message["body"]
            more = message["more_body"]
            *whole, left = rest.split(b"\n")
            rest = left
            for line in whole:
                if line.strip():
                    yield bytes(line)
            if len(rest) > bounds.body_bytes:
                raise InputError(f"a line may have at most {bounds.body_bytes} bytes")
        if rest.strip():
            yield bytes(rest)

    async def _work(self, number: int, line: bytes) -> None:
        """Judge what one line asks for, and give its answer out when the client is ready."""
        try:
            await self._give(await self._judged(number, line))
        finally:
            self._service.held_bytes -= len(line)
            self._room.release()

    async def _judged(self, number: int, line: bytes) -> bytes:
        name: str | int = number
        try:
            ask: BatchLine = decode(line, BatchLine)
            name = number if ask.id is None else ask.id
            plan = await grading_plan(self._service, ask, max_completions=1)
            async with asyncio.timeout(plan.deadline_seconds):
                receipt = await grade_one(
                    *(self._service, self._caller, plan, 0), wait_seconds=plan.deadline_seconds
                )
            return encode(BatchAnswer(id=name, receipt=receipt)) + b"\n"
        except TimeoutError:
            return _wrong(name, error_for(QueueTimeout()))
        except Exception as error:  # noqa: BLE001  the others go on
            return _wrong(name, error_for(error))

    async def _give(self, answer: bytes) -> None:
        """Have an answer sent; wait while too many are there that the client does not read."""
        while self._unread > UNREAD_BYTES:
            self._read_on.clear()
            await self._read_on.wait()
        self._unread += len(answer)
        self._answers.put_nowait(answer)

    async def _write(self) -> None:
        while (line := await self._answers.get()) is not None:
            await self._body(line, more=True)
            self._unread -= len(line)
            self._read_on.set()

    async def _body(self, text: bytes, *, more: bool) -> None:
        message: Any = {"type": "http.response.body", "body": text, "more_body": more}
        await self._send(message)


def _wrong(name: str | int, refusal: ErrorResponse) -> bytes:
    said = {"code": refusal.code, "detail": refusal.detail}
    return encode(BatchAnswer(id=name, error=said)) + b"\n"
