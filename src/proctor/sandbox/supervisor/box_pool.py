"""Warm boxes: taken for one guest, given back, replaced when they have died."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from proctor.sandbox.supervisor.box import processors
from proctor.sandbox.supervisor.protocols import BoxProtocol

R = TypeVar("R", bound=BoxProtocol)


class Pool(Generic[R]):
    """Boxes of one kind, safe for use by several threads; a forked child starts with none."""

    def __init__(self, make: Callable[[], R], idle: int) -> None:
        self._make = make
        self._most = idle
        self._idle: list[R] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    @property
    def idle(self) -> int:
        """How many boxes wait."""
        return len(self._idle)

    def take(self) -> R:
        """Return a box that nobody uses, a new one if there is none."""
        while (box := self._pop()) is not None:
            if box.alive():
                box.follow()
                return box
            box.close()
        return self._make()

    def _pop(self) -> R | None:
        """Return an idle box, one that runs where the caller runs if there is such a one."""
        here = processors()
        with self._lock:
            if self._owner != os.getpid():  # the boxes are our parent's
                self._idle, self._owner = [], os.getpid()
            for index, box in enumerate(self._idle):
                if box.processors == here:
                    return self._idle.pop(index)
            return self._idle.pop() if self._idle else None

    def give_back(self, box: R) -> None:
        """Take a box back, or end it if there are enough."""
        with self._lock:
            if len(self._idle) < self._most and self._owner == os.getpid():
                self._idle.append(box)
                return
        box.close()

    def close(self) -> None:
        """End all boxes that are not in use."""
        with self._lock:
            boxes, self._idle = self._idle, []
        for box in boxes:
            box.close()
