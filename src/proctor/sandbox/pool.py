"""Warm boxes: taken for one guest, given back, replaced when they have died."""

import os
import threading
from collections.abc import Callable

from proctor.sandbox.box import Box


class Pool:
    """Boxes of one kind, safe for use by several threads; a forked child starts with none."""

    def __init__(self, make: Callable[[], Box], idle: int) -> None:
        self._make = make
        self._most = idle
        self._idle: list[Box] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def take(self) -> Box:
        """Return a box that nobody uses, a new one if there is none."""
        with self._lock:
            if self._owner != os.getpid():  # the boxes are our parent's
                self._idle, self._owner = [], os.getpid()
            while self._idle:
                box = self._idle.pop()
                if box.alive():
                    box.follow()
                    return box
                box.close()
        return self._make()

    def give_back(self, box: Box) -> None:
        """Take a box back, or end it if there are enough."""
        with self._lock:
            if len(self._idle) < self._most and self._owner == os.getpid() and box.alive():
                self._idle.append(box)
                return
        box.close()

    def close(self) -> None:
        """End all boxes that are not in use."""
        with self._lock:
            boxes, self._idle = self._idle, []
        for box in boxes:
            box.close()
