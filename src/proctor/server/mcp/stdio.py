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
    """Answer a client until it has nothing more to say."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what anybody prints is no message
        asyncio.run(converse(service, lambda: os.read(0, CHUNK), out))


async def converse(service: Service, read: Callable[[], bytes], out: IO[bytes]) -> None:
    """Answer lines until there are no more and all that they asked for is done."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[bool] = loop.create_future()
    """Whether somebody is left who reads answers."""

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
        """Hand one line after the other to the session, none before the one before is taken."""
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


def bounded_lines(read: Callable[[], bytes], most: int = MAX_LINE) -> Iterator[bytes | None]:
    """Yield lines without holding many more than `most` bytes; None for one that is longer."""
    held = bytearray()
    skipping = False
    while chunk := read():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            held += end
            if not skipping:
                yield bytes(held) if len(held) <= most else None
            held.clear()
            skipping = False
        held += b"" if skipping else rest
        if len(held) > most:
            yield None
            held.clear()
            skipping = True
    if held:
        yield bytes(held)
