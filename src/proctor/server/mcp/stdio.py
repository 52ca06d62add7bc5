"""Lines in, lines out: a client on standard input and output."""

import asyncio
import os
import threading
from collections.abc import Iterator
from typing import IO

from proctor.sandbox import MIB
from proctor.server.mcp.messages import INVALID_REQUEST, RpcError
from proctor.server.mcp.session import Session
from proctor.server.service import Service

MAX_LINE = 32 * MIB


def serve(service: Service) -> None:
    """Answer a client until it has nothing more to say."""
    with os.fdopen(os.dup(1), "wb") as out, os.fdopen(os.dup(0), "rb") as lines:
        os.dup2(2, 1)  # what anybody prints is no message
        asyncio.run(converse(service, lines, out))


async def converse(service: Service, lines: IO[bytes], out: IO[bytes]) -> None:
    """Answer lines until there are no more, and all that they asked for is done."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def send(line: bytes) -> None:
        try:
            out.write(line)
            out.flush()
        except OSError:  # nobody is left to answer
            if not ended.done():
                ended.set_result(None)

    session = Session(service, send)
    threading.Thread(target=_listen, args=(lines, session, loop, ended), daemon=True).start()
    await ended
    if not out.closed:
        await session.finish()


def _listen(
    lines: IO[bytes],
    session: Session,
    loop: asyncio.AbstractEventLoop,
    ended: "asyncio.Future[None]",
) -> None:
    """Hand one line after the other to the session, none before the one before it is taken."""
    for line in bounded_lines(lines):
        if line is None:
            trouble = RpcError(INVALID_REQUEST, f"a line has at most {MAX_LINE} bytes")
            loop.call_soon_threadsafe(session.complain, trouble)
        elif line.strip():
            asyncio.run_coroutine_threadsafe(session.take(line), loop).result()
    loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result(None))


def bounded_lines(lines: IO[bytes], most: int = MAX_LINE) -> Iterator[bytes | None]:
    """Yield lines without holding more than `most` bytes; None for one that is longer."""
    while line := lines.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line
            continue
        yield None
        while (rest := lines.readline(most)) and not rest.endswith(b"\n"):
            pass
