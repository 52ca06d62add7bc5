"""How programs are sent to places that judge them: in batches, a bounded number ahead.

A message costs the same for one program as for many, so a place is sent whole batches while there
are enough programs; a place with idle workers gets what there is, after a moment in which more may
come. What was at a place that is lost goes to another one: alone, to a place where nothing else
runs, so that a program that brings down its machine takes no other along.

Nothing here knows what a place is; `engine.py` does.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

from proctor.grading.engine import PREFETCH, JudgeRequest
from proctor.sandbox.supervisor.job import Job

LINGER = 0.005
"""For how many seconds a program waits for others to travel with, at most."""
MAX_LOSSES = 3
"""With how many lost places a program is given up."""
_numbers = count()


class PendingRequest:
    """A program to be judged, or just to be run, that somebody waits for."""

    __slots__ = ("asked", "future", "losses", "number", "since")

    def __init__(self, asked: JudgeRequest | Job, since: float) -> None:
        self.number = next(_numbers)
        self.asked = asked
        self.since = since
        self.future: Future[Any] = Future()
        self.losses = 0
        """How many places were lost with it."""


class Place:
    """Where so many programs are judged at once, and those that are there."""

    def __init__(self, workers: int, batch_size: int) -> None:
        self.workers = workers
        self.works: dict[int, PendingRequest] = {}
        self.alone = False
        """Whether what is there must be the only thing."""
        self._batch_size = batch_size
        self._enough = max(batch_size, PREFETCH * workers)

    @property
    def max_in_flight(self) -> int:
        """The most that is ever there: one batch is at hand while another one is judged."""
        return self._enough + self._batch_size

    @property
    def takes_batch(self) -> bool:
        """Whether a whole batch is welcome."""
        return not self.alone and len(self.works) <= self._enough

    @property
    def is_idle(self) -> bool:
        """Whether some of its workers have nothing to do, or soon will have."""
        return not self.alone and len(self.works) < PREFETCH * self.workers

    def give(self, works: Iterable[PendingRequest], *, alone: bool = False) -> None:
        """Write down what is sent there."""
        self.works.update((work.number, work) for work in works)
        self.alone = alone

    def take(self, number: int) -> PendingRequest:
        """Write down that one came back."""
        work = self.works.pop(number)
        self.alone = self.alone and bool(self.works)
        return work


class BatchQueue:
    """Programs that wait to be sent."""

    def __init__(self, batch_size: int) -> None:
        self._batch_size = batch_size
        self._waiting: deque[PendingRequest] = deque()
        self._suspects: deque[PendingRequest] = deque()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._suspects)

    def add(self, work: PendingRequest) -> None:
        """Stand in line."""
        self._waiting.append(work)

    def lose(self, place: Place) -> list[PendingRequest]:
        """Stand in line again: one of these may have brought down the place that was lost.

        Those that this happened to too often are not sent again, but returned.
        """
        for work in place.works.values():
            work.losses += 1
        self._suspects += [work for work in place.works.values() if work.losses < MAX_LOSSES]
        hopeless = [work for work in place.works.values() if work.losses >= MAX_LOSSES]
        place.works.clear()
        return hopeless

    def due(self, now: float) -> float | None:
        """Return in how many seconds what waits is sent in less than a batch."""
        return max(0.0, self._waiting[0].since + LINGER - now) if self._waiting else None

    def batch_for(self, place: Place, places: Sequence[Place], now: float) -> list[PendingRequest]:
        """Return what to send to one of the places now, which may be nothing.

        While something that was lost waits, as many places as needed are left to fall idle.
        """
        if self._suspects and place in self._cells(places):
            return self._sent(place, [] if place.works else [self._suspects.popleft()], alone=True)
        if place.takes_batch and len(self._waiting) >= self._batch_size:
            return self._sent(place, self._take(self._batch_size))
        if not (place.is_idle and self.due(now) == 0.0):
            return []
        idle = sum(other.is_idle for other in places)
        share = max(place.workers, math.ceil(len(self._waiting) / idle))
        return self._sent(place, self._take(min(share, self._batch_size)))

    def _cells(self, places: Sequence[Place]) -> list[Place]:
        """Return the places that will first be empty."""
        free = sorted((one for one in places if not one.alone), key=lambda one: len(one.works))
        return free[: len(self._suspects)]

    def _take(self, most: int) -> list[PendingRequest]:
        """Take some that still want to be judged."""
        taken: list[PendingRequest] = []
        while self._waiting and len(taken) < most:
            work = self._waiting.popleft()
            if work.future.set_running_or_notify_cancel():
                taken.append(work)
        return taken

    def _sent(
        self, place: Place, works: list[PendingRequest], *, alone: bool = False
    ) -> list[PendingRequest]:
        if works:
            place.give(works, alone=alone)
        return works

    def drop_all(self) -> list[PendingRequest]:
        """Send nothing any more; return what waited."""
        left = [*self._suspects, *self._waiting]
        self._suspects.clear()
        self._waiting.clear()
        return left
