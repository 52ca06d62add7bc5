"""One bounded queue in front of the sandbox, fair between keys.

Theory of operation. Requests are handled on an event loop; candidates run on a fixed number of
threads of a `RequestQueue`. Work that cannot run yet waits in line behind earlier work of the same
key, and the lines take turns: a client that sends a thousand requests does not delay one that sends
a single request. Threads fetch work by themselves, so none idles while the loop is busy. When a
caller is cancelled (its client disconnected, its deadline passed), its work is cancelled, too: work
that has not started never runs, and a running guest is killed (`cancellation.py`). Equal work of
two callers runs once: both get the result, and it is dropped only when both are cancelled.
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
"""Assumed duration of work before any has finished."""
SHARE_OF_NEW = 0.05
"""Weight of the latest duration in the moving average."""
MIN_RETRY, MAX_RETRY = 1.0, 60.0


class QueueFull(Exception):
    """The queue is full; retry after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"the queue is full; try again in {retry_after:g} seconds")
        self.retry_after = retry_after


class QueueTimeout(Exception):
    """The work did not start in time."""


class _Job:
    """Work and the callers that wait for its result."""

    __slots__ = ("begun", "dropped", "key", "same", "waiters", "work")

    def __init__(self, work: Callable[[], Any], key: str, same: Hashable | None) -> None:
        self.work = work
        self.key = key
        self.same = same
        self.begun = False
        self.dropped = threading.Event()
        self.waiters: set[asyncio.Future[Any]] = set()


class RequestQueue:
    """Runs blocking work on `workers` threads, fairly between keys; usable from any event loop."""

    def __init__(self, workers: int, max_waiting: int) -> None:
        self.workers = workers
        self.max_waiting = max_waiting
        self.waiting = 0
        """Number of jobs that have not started."""
        self.running = 0
        self.mean_seconds = USUAL_SECONDS
        self._lines: dict[str, dict[_Job, None]] = {}
        """Key → its waiting jobs; the key whose turn is next comes first."""
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

        Without `wait_seconds`, a full queue raises QueueFull. With it, the work is queued anyway,
        and QueueTimeout is raised if it has not started by then. Work with the `same` identity
        as work that waits or runs is not run again.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        job = self._enter(work, key, same, waiter, wait=wait_seconds is not None)
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
        """Cancel all work and stop the threads."""
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
        wait: bool,
    ) -> _Job:
        """Queue work, or join an equal job that is queued or running."""
        with self._ready:
            job = None if same is None else self._same.get(same)
            if job is None:
                if not wait and self.is_full(key):
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
        """Return True if the queue is full and the key has used up its share of it."""
        if self.waiting < self.max_waiting:
            return False
        line = self._lines.get(key, {})
        keys = len(self._lines) + (not line)
        return len(line) >= self.max_waiting // keys

    def retry_after(self) -> float:
        """Return the estimated seconds until the queue is empty."""
        seconds = self.mean_seconds * (self.waiting + 1) / self.workers
        return min(max(float(math.ceil(seconds)), MIN_RETRY), MAX_RETRY)

    def _expire(self, job: _Job, waiter: asyncio.Future[Any]) -> None:
        if not job.begun and not waiter.done():
            waiter.set_exception(QueueTimeout())

    def _leave(self, job: _Job, waiter: asyncio.Future[Any]) -> None:
        """Remove a waiter; cancel the job if it was the last one."""
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
        """Run jobs on one thread until the queue is closed."""
        while (job := self._take()) is not None:
            begun = time.monotonic()
            result: Any = None
            trouble: BaseException | None = None
            try:
                with cancellable(job.dropped):
                    result = job.work()
            except Cancelled:
                trouble = asyncio.CancelledError()
            except BaseException as error:  # noqa: BLE001  the waiters get it
                trouble = error
            self._tell(job, result, trouble, time.monotonic() - begun)
            del job, result, trouble  # nothing of a request outlives it

    def _take(self) -> _Job | None:
        """Wait for a job and return it; None when the queue is closed."""
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
                waiter.get_loop().call_soon_threadsafe(_set_result, waiter, result, trouble)
            except RuntimeError:  # its event loop has ended
                continue


def _set_result(waiter: asyncio.Future[Any], result: Any, trouble: BaseException | None) -> None:
    if waiter.done():
        return
    if trouble is None:
        waiter.set_result(result)
    elif isinstance(trouble, asyncio.CancelledError):
        waiter.cancel()
    else:
        waiter.set_exception(trouble)
