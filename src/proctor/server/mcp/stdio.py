"""Lines in, lines out: a client on standard input and output."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

from proctor.records.limits import MIB
from proctor.server.mcp.messages import INVALID_REQUEST, RpcError
from proctor.server.mcp.session import Session
from proctor.server.service import Service

MAX_LINE = 32 * MIB
CHUNK = 1 << 16


def serve(service: Service) -> None:
    """Answer a client until it closes standard input."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # prints must not mix with messages
        asyncio.run(converse(service, lambda: os.read(0, CHUNK), out))


async def converse(service: Service, read: Callable[[], bytes], out: IO[bytes]) -> None:
    """Answer lines until the input ends and all requests are done."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[bool] = loop.create_future()
    """Whether the client still reads responses."""

    def end(*, heard: bool) -> None:
        if not over.done():
            over.set_result(heard)

    def send(line: bytes) -> None:
        try:
            out.write(line)
            out.flush()
        except OSError:
            end(heard=False)

    session = Session(service, send)

    def listen() -> None:
        """Pass lines to the session, one at a time."""
        with suppress(RuntimeError, asyncio.CancelledError):  # the loop has ended before us
            for line in bounded_lines(read):
                asyncio.run_coroutine_threadsafe(_taken(session, line), loop).result()
            loop.call_soon_threadsafe(lambda: end(heard=True))

    threading.Thread(target=listen, daemon=True).start()
    if await over:
        await session.finish()
    else:
        session.drop()


async def _taken(session: Session, line: bytes | None) -> None:
    if line is None:
        session.complain(RpcError(INVALID_REQUEST, f"a line has at most {MAX_LINE} bytes"))
    elif line.strip():
        await session.take(line)


def bounded_lines(read: Callable[[], bytes], max_bytes: int = MAX_LINE) -> Iterator[bytes | None]:
    """Yield lines; None for one longer than `max_bytes`. Memory stays near that bound."""
    held = bytearray()
    skipping = False
    while chunk := read():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            held += end
            if not skipping:
                yield bytes(held) if len(held) <= max_bytes else None
            held.clear()
            skipping = False
        held += b"" if skipping else rest
        if len(held) > max_bytes:
            yield None
            held.clear()
            skipping = True
    if held:
        yield bytes(held)
