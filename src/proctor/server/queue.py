"""One bounded queue in front of the sandbox, fair between keys.

Theory of operation. Requests are handled on an event loop; candidates run on the threads of a
`RequestQueue`, so many at once and no more. Work that cannot run yet waits in line behind earlier
work of the same key, and the lines take turns: a client that sends a thousand requests does not
delay one that sends a single request. Threads fetch work by themselves, so none idles while the
loop is busy. A caller that awaits the result of work and is cancelled (the client has gone, a
deadline is over) takes the work back: if it has not begun it never runs, and a guest that runs is
killed (`cancellation.py`). Work that another caller has under way is not begun again: both get its
result, and it is dropped only when both have gone.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from proctor.cancellation import Cancelled, cancellable
from proctor.grading.engine import grader_threads

T = TypeVar("T")

USUAL_SECONDS = 0.05
"""How long work is taken to last before any has been done."""
SHARE_OF_NEW = 0.05
"""What the last work counts in the mean."""
MIN_RETRY, MAX_RETRY = 1.0, 60.0


class QueueFull(Exception):
    """The queue is full; it may be worth asking again after so many seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"the queue is full; try again in {retry_after:g} seconds")
        self.retry_after = retry_after


class QueueTimeout(Exception):
    """Its turn did not come in time."""


class _Job:
    """Work that somebody waits for."""

    __slots__ = ("begun", "dropped", "key", "same", "waiters", "work")

    def __init__(self, work: Callable[[], Any], key: str, same: Hashable | None) -> None:
        self.work = work
        self.key = key
        self.same = same
        self.begun = False
        self.dropped = threading.Event()
        self.waiters: set[asyncio.Future[Any]] = set()


class RequestQueue:
    """Runs blocking work on so many threads, in a fair order; may be used from any event loop."""

    def __init__(self, workers: int, most_waiting: int) -> None:
        self.workers = workers
        self.most_waiting = most_waiting
        self.waiting = 0
        """How many requests' work waits for its turn."""
        self.running = 0
        self.mean_seconds = USUAL_SECONDS
        self._lines: dict[str, dict[_Job, None]] = {}
        """What each key waits for; the key whose turn is next comes first."""
        self._same: dict[Hashable, _Job] = {}
        self._ready = threading.Condition()
        self._closed = False
        self._threads = grader_threads(workers)
        for _ in range(workers):
            self._threads.submit(self._serve)

    async def run(
        self,
        work: Callable[[], T],
        *,
        key: str = "",
        wait_seconds: float | None = None,
        same: Hashable | None = None,
    ) -> T:
        """Run work in its turn and return its result.

        A full queue raises QueueFull at once. A caller that passes `wait_seconds` is let in
        anyway and gets QueueTimeout if its turn has not come by then. Work with the `same`
        identity as work that waits or runs is not run again.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        job = self._enter(work, key, same, waiter, patient=wait_seconds is not None)
        timer = None
        if wait_seconds is not None:
            timer = loop.call_later(max(wait_seconds, 0.0), self._expire, job, waiter)
        try:
            return await waiter
        finally:
            if timer is not None:
                timer.cancel()
            self._leave(job, waiter)

    def close(self) -> None:
        """Drop all work and end the threads."""
        with self._ready:
            self._closed = True
            jobs = [job for line in self._lines.values() for job in line]
            for job in {*jobs, *self._same.values()}:
                self._drop(job)
            self._ready.notify_all()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _enter(
        self,
        work: Callable[[], Any],
        key: str,
        same: Hashable | None,
        waiter: asyncio.Future[Any],
        *,
        patient: bool,
    ) -> _Job:
        """Stand in line, or join who stands there with the same."""
        with self._ready:
            job = None if same is None else self._same.get(same)
            if job is None:
                if not patient and self.is_full(key):
                    raise QueueFull(self.retry_after())
                job = _Job(work, key, same)
                self._lines.setdefault(key, {})[job] = None
                self.waiting += 1
                if same is not None:
                    self._same[same] = job
                self._ready.notify()
            job.waiters.add(waiter)
            return job

    def is_full(self, key: str) -> bool:
        """Say whether one more is too much; a key with less than its share is never turned away."""
        if self.waiting < self.most_waiting:
            return False
        line = self._lines.get(key, {})
        keys = len(self._lines) + (not line)
        return len(line) >= self.most_waiting // keys

    def retry_after(self) -> float:
        """Return in how many seconds what waits now will have been done."""
        seconds = self.mean_seconds * (self.waiting + 1) / self.workers
        return min(max(float(math.ceil(seconds)), MIN_RETRY), MAX_RETRY)

    def _expire(self, job: _Job, waiter: asyncio.Future[Any]) -> None:
        if not job.begun and not waiter.done():
            waiter.set_exception(QueueTimeout())

    def _leave(self, job: _Job, waiter: asyncio.Future[Any]) -> None:
        """Wait no longer; what nobody waits for is dropped."""
        with self._ready:
            job.waiters.discard(waiter)
            if not job.waiters:
                self._drop(job)

    def _drop(self, job: _Job) -> None:
        job.dropped.set()
        if self._same.get(job.same) is job:
            del self._same[job.same]
        line = self._lines.get(job.key, {})
        if job in line:
            del line[job]
            self.waiting -= 1
            if not line:
                del self._lines[job.key]

    def _serve(self) -> None:
        """Run what is due, again and again, on one thread."""
        while (job := self._take()) is not None:
            begun = time.monotonic()
            result: Any = None
            trouble: BaseException | None = None
            try:
                with cancellable(job.dropped):
                    result = job.work()
            except Cancelled:
                trouble = asyncio.CancelledError()
            except BaseException as error:  # noqa: BLE001  whoever waits gets it
                trouble = error
            self._tell(job, result, trouble, time.monotonic() - begun)
            del job, result, trouble  # nothing of a request outlives it

    def _take(self) -> _Job | None:
        """Wait for work and return it; nothing comes when the gate is closed."""
        with self._ready:
            while not self._lines:
                if self._closed:
                    return None
                self._ready.wait()
            key = next(iter(self._lines))
            line = self._lines.pop(key)
            job = next(iter(line))
            del line[job]
            if line:
                self._lines[key] = line
            self.waiting -= 1
            self.running += 1
            job.begun = True
            return job

    def _tell(self, job: _Job, result: Any, trouble: BaseException | None, seconds: float) -> None:
        with self._ready:
            self.running -= 1
            self.mean_seconds += SHARE_OF_NEW * (seconds - self.mean_seconds)
            if self._same.get(job.same) is job:
                del self._same[job.same]
            waiters, job.waiters = job.waiters, set()
        for waiter in waiters:
            try:
                waiter.get_loop().call_soon_threadsafe(_settle, waiter, result, trouble)
            except RuntimeError:  # its loop has ended, and nobody waits there
                continue


def _settle(waiter: asyncio.Future[Any], result: Any, trouble: BaseException | None) -> None:
    if waiter.done():
        return
    if trouble is None:
        waiter.set_result(result)
    elif isinstance(trouble, asyncio.CancelledError):
        waiter.cancel()
    else:
        waiter.set_exception(trouble)
