"""A stream of samples in, a stream of receipts out, in the same order, for loops of either colour.

A sample is taken only when a worker is about to be free, so a stream may be endless. A slow sample
does not hold up the workers: receipts of later ones wait for it, up to a bound.
"""

import asyncio
import threading
from collections import deque
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import Future
from typing import Generic, TypeVar

from proctor.errors import InputError
from proctor.records.receipt import Receipt

T = TypeVar("T")
_Due = asyncio.Queue[asyncio.Future[Receipt] | None]
Source = Iterable[T] | AsyncIterable[T]
Submit = Callable[[int, T], Future[Receipt]]

AT_HAND = 2
"""How many samples a worker are taken before a worker is free for them."""
WAITING = 512
"""How many samples a worker may be under way or done behind one that is due."""


class GradingStream(Generic[T]):
    """The receipts of a stream of samples: an iterator, and for `async for` an asynchronous one.

    An error of the source, or of a sample that cannot be used, is raised after the receipts of
    all samples before it. Who leaves early waits for nothing: what has not begun is dropped.
    """

    def __init__(self, samples: Source[T], submit: Submit[T], workers: int) -> None:
        self._samples = samples
        self._submit = submit
        self._at_hand = AT_HAND * workers
        self._most = WAITING * workers
        self._blocking = self._wait_for_each()

    def __iter__(self) -> Iterator[Receipt]:
        return self

    def __next__(self) -> Receipt:
        return next(self._blocking)

    def close(self) -> None:
        """Drop what has not begun."""
        self._blocking.close()

    async def __aiter__(self) -> AsyncIterator[Receipt]:
        due = _Due()
        room = asyncio.Semaphore(self._most)
        feeding = asyncio.ensure_future(self._feed(due, room))
        try:
            while (first := await due.get()) is not None:
                yield await first
                room.release()
        finally:
            feeding.cancel()
            while not due.empty():
                left = due.get_nowait()
                if left is not None and not left.cancel() and not left.cancelled():
                    left.exception()  # nobody will ask for it, and asyncio would complain

    async def _feed(self, due: _Due, room: asyncio.Semaphore) -> None:
        free = asyncio.Semaphore(self._at_hand)
        number = 0
        try:
            async for sample in _each(self._samples):
                await free.acquire()
                await room.acquire()
                future = asyncio.wrap_future(self._submit(number, sample))
                future.add_done_callback(lambda _: free.release())
                due.put_nowait(future)
                number += 1
        except Exception as error:  # noqa: BLE001  the caller gets it, in its turn
            failed: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            due.put_nowait(failed)
        due.put_nowait(None)

    def _wait_for_each(self) -> Generator[Receipt, None, None]:
        if not isinstance(self._samples, Iterable):
            raise InputError("these samples come asynchronously; take receipts by `async for`")
        due: deque[Future[Receipt]] = deque()
        try:
            for future in self._submitted(self._samples):
                due.append(future)
                while due and (due[0].done() or len(due) >= self._most):
                    yield due.popleft().result()
            while due:
                yield due.popleft().result()
        finally:
            for future in due:
                future.cancel()

    def _submitted(self, samples: Iterable[T]) -> Iterator[Future[Receipt]]:
        """Submit samples one by one, each when there is room for it."""
        free = threading.Semaphore(self._at_hand)
        try:
            for number, sample in enumerate(samples):
                free.acquire()  # it is given back by whoever ends the grading
                future = self._submit(number, sample)
                future.add_done_callback(lambda _: free.release())
                yield future
        except Exception as error:  # noqa: BLE001  the caller gets it, in its turn
            failed: Future[Receipt] = Future()
            failed.set_exception(error)
            yield failed


async def _each(samples: Source[T]) -> AsyncIterator[T]:
    """Take samples from a source of either colour."""
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample
