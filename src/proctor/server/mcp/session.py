"""One client: what it asks, in the words of the protocol version that it speaks.

Versions up to 2025-11-25 begin with `initialize`. From 2026-07-28 on there is no beginning: every
request says in its `_meta` which version it is in, and `server/discover` tells what there is.
"""

import asyncio
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from proctor.errors import InputError, ProctorError
from proctor.records.encoding import encode
from proctor.server.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Id,
    Message,
    RpcError,
    Unreadable,
    answer,
    notification,
    parse,
    refusal,
)
from proctor.server.mcp.tools import TOOLS, Tool, call, listed
from proctor.server.queue import QueueFull, QueueTimeout
from proctor.server.service import Service
from proctor.storage.jsonl import shorten

WITH_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
WITHOUT = ("2026-07-28",)
PREFIX = "io.modelcontextprotocol/"
PROGRESS_SECONDS = 1.0
MAX_CALLS = 1024
KEPT_MS = 3_600_000
"""How long a client may remember what there is: it never changes while we run."""
INSTRUCTIONS = (
    "Run programs and judge solutions in a sandbox on this machine. Nothing stays between calls."
)


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says beside what it asks."""

    token: Id | None = msgspec.field(default=None, name="progressToken")
    version: str | None = msgspec.field(default=None, name=f"{PREFIX}protocolVersion")


class Params(msgspec.Struct, frozen=True, kw_only=True):
    """What every request may say."""

    about: About = msgspec.field(default=About(), name="_meta")


class Initialize(msgspec.Struct, frozen=True, kw_only=True):
    """The first request."""

    version: str = msgspec.field(name="protocolVersion")


class Call(Params, frozen=True, kw_only=True):
    """A request to call a tool."""

    name: Annotated[str, Meta(max_length=200)]
    arguments: Raw = Raw(b"{}")


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    """A request that its client waits for no longer."""

    request_id: Id = msgspec.field(name="requestId")


class Session:
    """What is known of one client; all of it on one event loop."""

    def __init__(self, service: Service, send: Callable[[bytes], None]) -> None:
        self._service = service
        self._send = send
        self._begun = False
        self._calls: dict[Id, asyncio.Task[None]] = {}

    async def take(self, line: bytes) -> None:
        """Answer a line, or begin to; nothing that it holds is our end."""
        try:
            message = parse(line)
        except Unreadable as error:
            self._send(refusal(error.id, error))
            return
        if message is None:
            return
        if message.id is None:
            self._heed(message)
            return
        try:
            result = self._answered(message, message.id)
        except RpcError as error:
            self._send(refusal(message.id, error))
            return
        if result is not None:
            self._send(answer(message.id, result))

    def complain(self, trouble: RpcError) -> None:
        """Answer what could not even be read."""
        self._send(refusal(None, trouble))

    async def finish(self) -> None:
        """Wait for what is under way."""
        while self._calls:
            await asyncio.wait(self._calls.values())

    def drop(self) -> None:
        """End what is under way."""
        for task in self._calls.values():
            task.cancel()

    def _heed(self, message: Message) -> None:
        """Take a notification; one that we do not know, or that makes no sense, asks nothing."""
        if message.method == "notifications/cancelled":
            with suppress(RpcError):
                task = self._calls.get(message.read(Cancelled).request_id)
                if task is not None:
                    task.cancel()

    def _answered(self, message: Message, id_: Id) -> Any:
        """Return the answer to a request, None if it comes later."""
        if message.method == "initialize":
            return self._initialized(message.read(Initialize).version)
        about = message.read(Params).about
        modern = about.version is not None
        if modern and about.version not in WITHOUT:
            said = {"supported": list(WITHOUT), "requested": about.version}
            raise RpcError(UNSUPPORTED_VERSION, "this version of the protocol is unknown", said)
        match message.method:
            case "ping":
                return {}
            case "server/discover" if modern:
                return _modern({"supportedVersions": list(WITHOUT), **_introduction()}, kept=True)
            case "tools/list" | "tools/call" if not (modern or self._begun):
                raise RpcError(INVALID_REQUEST, "initialize comes first")
            case "tools/list":
                tools = {"tools": listed()}
                return _modern(tools, kept=True) if modern else tools
            case "tools/call":
                self._begin(message.read(Call), id_, modern=modern)
                return None
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {shorten(message.method)}")

    def _initialized(self, asked: str) -> dict[str, Any]:
        """Agree on a version: the one that is asked for, or the newest that we know."""
        self._begun = True
        version = asked if asked in WITH_HANDSHAKE else WITH_HANDSHAKE[-1]
        return {"protocolVersion": version, **_introduction()}

    def _begin(self, asked: Call, id_: Id, *, modern: bool) -> None:
        tool = TOOLS.get(asked.name)
        if tool is None:
            known = ", ".join(TOOLS)
            raise RpcError(INVALID_PARAMS, f"there is no tool {shorten(asked.name)}, only {known}")
        if id_ in self._calls:
            raise RpcError(INVALID_REQUEST, f"request {shorten(id_)} is not answered yet")
        if len(self._calls) >= MAX_CALLS:
            raise RpcError(INVALID_REQUEST, f"{MAX_CALLS} requests are not answered yet")
        task = asyncio.get_running_loop().create_task(self._call(tool, asked, id_, modern=modern))
        self._calls[id_] = task
        task.add_done_callback(lambda _: self._calls.pop(id_))

    async def _call(self, tool: Tool, asked: Call, id_: Id, *, modern: bool) -> None:
        """Call a tool and answer; who cancelled it hears nothing more."""
        progress = asyncio.ensure_future(self._report(asked.about.token))
        try:
            result = await _result(self._service, tool, bytes(asked.arguments))
            line = answer(id_, _modern(result) if modern else result)
        except Exception as error:  # noqa: BLE001  whatever it is, the next request is answered
            traceback.print_exception(error)
            said = "this is a defect of Proctor; its standard error says more"
            line = refusal(id_, RpcError(INTERNAL_ERROR, said))
        finally:
            progress.cancel()
        self._send(line)

    async def _report(self, token: Id | None) -> None:
        """Say now and then that a call is under way, to who asked for that."""
        begun = time.monotonic()
        while token is not None:
            await asyncio.sleep(PROGRESS_SECONDS)
            seconds = round(time.monotonic() - begun, 3)
            said = {"progressToken": token, "progress": seconds, "message": f"{seconds:.0f} s"}
            self._send(notification("notifications/progress", said))


async def _result(service: Service, tool: Tool, arguments: bytes) -> dict[str, Any]:
    """Call a tool; what a model could mend, or has to know, is a result of it as well."""
    try:
        given = await call(service, tool, arguments)
    except InputError as error:
        return _failed(f"{tool.name}: {error}")
    except QueueFull as error:
        return _failed(str(error))
    except QueueTimeout:
        return _failed("there was no time for it before its deadline")
    except ProctorError as error:
        return _failed(f"Proctor itself failed, which says nothing about the program: {error}")
    text = encode(given)
    return {"content": [_text(text.decode())], "structuredContent": Raw(text), "isError": False}


def _failed(said: str) -> dict[str, Any]:
    return {"content": [_text(said)], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _introduction() -> dict[str, Any]:
    return {
        "capabilities": {"tools": {}},
        "serverInfo": {
            "name": "proctor",
            "title": "Proctor",
            "version": metadata.version("proctor"),
        },
        "instructions": INSTRUCTIONS,
    }


def _modern(result: dict[str, Any], *, kept: bool = False) -> dict[str, Any]:
    """Add what results have from 2026-07-28 on."""
    more = {"ttlMs": KEPT_MS, "cacheScope": "public"} if kept else {}
    return {**result, "resultType": "complete", **more}
