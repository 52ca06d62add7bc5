"""Open notebooks: who has which, how many there may be, and when one goes.

A notebook that nobody uses is closed after its idle time; one whose threads or children go on
working between cells, or take more than the whole may, is closed when that is seen. One thread
looks after all of them, from the first one on.
"""

import secrets
import threading
import time
from http import HTTPStatus

from proctor.errors import SandboxError
from proctor.sandbox import Limits, Sandbox
from proctor.sandbox.notebooks import Notebook
from proctor.server.refusal import Refusal

TICK = 5.0
"""Seconds between two looks at all of them."""
IDLE_CPU_SECONDS = 5.0
"""How much one may work between two cells."""
ID_BYTES = 16


class Held:
    """One notebook and who may use it."""

    def __init__(self, notebook: Notebook, owner: str, limits: Limits, idle_seconds: float) -> None:
        self.id = secrets.token_urlsafe(ID_BYTES)
        self.notebook = notebook
        self.owner = owner
        self.limits = limits
        self.idle_seconds = idle_seconds
        self.cells = 0
        self.busy = threading.Lock()
        self._used = time.monotonic()
        self._cpu_seconds: float | None = None

    def rest(self) -> None:
        """Note that it was used just now."""
        self._used = time.monotonic()
        self._cpu_seconds = None

    def is_over(self) -> bool:
        """Say whether it has to go: unused for too long, ended, or at work when it should not be.

        For one that is not busy; its owner alone may make it so.
        """
        if not self.notebook.alive or time.monotonic() - self._used > self.idle_seconds:
            return True
        load = self.notebook.look()
        if load is None:
            return False
        if self._cpu_seconds is None:
            self._cpu_seconds = load.cpu_seconds
        return (
            load.cpu_seconds - self._cpu_seconds > IDLE_CPU_SECONDS
            or load.processes > self.limits.processes
            or load.memory_bytes > self.limits.memory_bytes
            or load.processes <= 0
        )


class Notebooks:
    """All open notebooks of a service; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox, most: int, most_of_one: int) -> None:
        self._sandbox = sandbox
        self._most, self.most_of_one = most, most_of_one
        self._held: dict[str, Held] = {}
        self._opening: list[str] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._keeper: threading.Thread | None = None

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._held)

    def open(self, owner: str, limits: Limits, idle_seconds: float) -> Held:
        """Open one for somebody who has not too many."""
        self._reserve(owner)
        try:
            held = Held(self._sandbox.notebook(limits), owner, limits, idle_seconds)
            with self._lock:
                if not self._closed.is_set():
                    self._held[held.id] = held
                    return held
            held.notebook.close()
            raise SandboxError("the service ends")
        finally:
            with self._lock:
                self._opening.remove(owner)

    def _reserve(self, owner: str) -> None:
        with self._lock:
            owners = [*self._opening, *(held.owner for held in self._held.values())]
            if owners.count(owner) >= self.most_of_one or len(owners) >= self._most:
                most = self.most_of_one if owners.count(owner) >= self.most_of_one else self._most
                said = f"there may be {most} open sessions at once; close one"
                raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "sessions", said, 1.0)
            self._opening.append(owner)
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._look_after, daemon=True)
                self._keeper.start()

    def of(self, owner: str) -> list[Held]:
        """Return those that somebody has."""
        with self._lock:
            return [held for held in self._held.values() if held.owner == owner]

    def find(self, owner: str, name: str) -> Held:
        """Return one by its id; those of others are not there."""
        with self._lock:
            held = self._held.get(name)
        if held is None or held.owner != owner:
            raise Refusal(HTTPStatus.NOT_FOUND, "not_found", "there is no such session")
        return held

    def drop(self, held: Held) -> None:
        """Close one, whatever it does."""
        with self._lock:
            self._held.pop(held.id, None)
        held.notebook.close()

    def close(self) -> None:
        """Close all of them."""
        self._closed.set()
        with self._lock:
            everything = [*self._held.values()]
        for held in everything:
            self.drop(held)

    def _look_after(self) -> None:
        """Close what has to go, until the service ends."""
        while not self._closed.wait(TICK):
            with self._lock:
                everything = [*self._held.values()]
            for held in everything:
                if held.busy.acquire(blocking=False):
                    try:
                        if held.is_over():
                            self.drop(held)
                    finally:
                        held.busy.release()
