"""A service from Python: `Client`, and `AsyncClient` with the same methods for asyncio.

What a service says to do later (429, 503) is done later, when it says; so is what broke off on the
way, because asking twice for a verdict harms nobody. Both clients follow the same steps, which
know nothing of sockets: `requests.py` for a request, `stream.py` for a stream of samples.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Self, TypeVar

import msgspec

from proctor.client.requests import (
    OK,
    AnyTask,
    Ask,
    execute,
    grade,
    httpx,
    settings,
    steps,
    task_of,
)
from proctor.client.schema import Executed
from proctor.client.stream import Sample, chunks
from proctor.errors import ServiceError
from proctor.records.receipt import Receipt

T = TypeVar("T")
URL = "http://127.0.0.1:8080"


class Client:
    """Asks a service and waits; safe for use by several threads."""

    def __init__(self, url: str = URL, key: str | None = None, timeout_s: float = 600.0) -> None:
        """Connect to nothing yet; `key` is an API key of the service, if it wants one."""
        self._http = httpx().Client(**settings(url, key, timeout_s))

    def grade(self, task: AnyTask, completion: str, **options: Any) -> Receipt:
        """Have one completion judged; options are those of POST /v1/grade."""
        return self._ask(grade(task, [completion], options))[0]

    def grade_group(
        self, task: AnyTask, completions: Sequence[str], **options: Any
    ) -> list[Receipt]:
        """Have several completions of one task judged."""
        return self._ask(grade(task, completions, options))

    def grade_stream(
        self, samples: Iterable[Sample], **options: Any
    ) -> Iterator[tuple[int, Receipt]]:
        """Have many samples judged; yields each sample's number and receipt as they come."""
        for chunk in chunks(samples, options):
            while chunk.lines:
                try:
                    with self._http.stream("POST", **chunk.request()) as response:
                        if response.status_code != OK:
                            response.read()
                            chunk.refused(response)
                        else:
                            for line in response.iter_lines():
                                yield from chunk.take(line)
                except httpx().TransportError as error:
                    chunk.trouble = ServiceError(f"the stream broke off: {error!r}")
                time.sleep(chunk.pause())

    def execute(self, code: str, stdin: str = "", **more: Any) -> Executed:
        """Have one program run; `more` are fields of POST /v1/execute, files as bytes."""
        return self._ask(execute(code, stdin, more))

    def benchmarks(self) -> list[dict[str, Any]]:
        """Return the benchmarks that the service knows."""
        return self._ask(Ask("GET", "/v1/benchmarks", msgspec.json.decode))

    def task(self, benchmark: str, task_id: str, *, tests: bool = False) -> dict[str, Any]:
        """Return a task; its tests if the key allows it."""
        return self._ask(task_of(benchmark, task_id, tests=tests))

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, ask: Ask[T]) -> T:
        way = steps(ask)
        answer: Any = None
        while True:
            try:
                step = way.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(step, float):
                time.sleep(step)
                answer = None
                continue
            try:
                answer = self._http.request(**step)
            except httpx().TransportError as error:
                answer = error


class AsyncClient:
    """Asks a service from asyncio."""

    def __init__(self, url: str = URL, key: str | None = None, timeout_s: float = 600.0) -> None:
        """Connect to nothing yet; `key` is an API key of the service, if it wants one."""
        self._http = httpx().AsyncClient(**settings(url, key, timeout_s))

    async def grade(self, task: AnyTask, completion: str, **options: Any) -> Receipt:
        """Have one completion judged; options are those of POST /v1/grade."""
        return (await self._ask(grade(task, [completion], options)))[0]

    async def grade_group(
        self, task: AnyTask, completions: Sequence[str], **options: Any
    ) -> list[Receipt]:
        """Have several completions of one task judged."""
        return await self._ask(grade(task, completions, options))

    async def grade_stream(
        self, samples: Iterable[Sample], **options: Any
    ) -> AsyncIterator[tuple[int, Receipt]]:
        """Have many samples judged; yields each sample's number and receipt as they come."""
        for chunk in chunks(samples, options):
            while chunk.lines:
                try:
                    async with self._http.stream("POST", **chunk.request()) as response:
                        if response.status_code != OK:
                            await response.aread()
                            chunk.refused(response)
                        else:
                            async for line in response.aiter_lines():
                                for graded in chunk.take(line):
                                    yield graded
                except httpx().TransportError as error:
                    chunk.trouble = ServiceError(f"the stream broke off: {error!r}")
                await asyncio.sleep(chunk.pause())

    async def execute(self, code: str, stdin: str = "", **more: Any) -> Executed:
        """Have one program run; `more` are fields of POST /v1/execute, files as bytes."""
        return await self._ask(execute(code, stdin, more))

    async def benchmarks(self) -> list[dict[str, Any]]:
        """Return the benchmarks that the service knows."""
        return await self._ask(Ask("GET", "/v1/benchmarks", msgspec.json.decode))

    async def task(self, benchmark: str, task_id: str, *, tests: bool = False) -> dict[str, Any]:
        """Return a task; its tests if the key allows it."""
        return await self._ask(task_of(benchmark, task_id, tests=tests))

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, ask: Ask[T]) -> T:
        way = steps(ask)
        answer: Any = None
        while True:
            try:
                step = way.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(step, float):
                await asyncio.sleep(step)
                answer = None
                continue
            try:
                answer = await self._http.request(**step)
            except httpx().TransportError as error:
                answer = error
