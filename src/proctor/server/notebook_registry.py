"""The open notebooks: their owners, their number, and when they are closed.

A notebook is closed after its idle time, and as soon as a check finds that its threads or children
run between cells or exceed its limits. All notebooks share one memory budget: once it is used up no
new one is opened, and if they grow beyond it, the least recently used are closed. One thread,
started with the first notebook, checks all of them.
"""

import secrets
import threading
import time
from collections.abc import Callable
from http import HTTPStatus

from proctor.errors import SandboxError
from proctor.records.limits import MIB, Limits
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.memory_budget import host_memory
from proctor.sandbox.supervisor.notebook import Notebook
from proctor.server.errors import ErrorResponse

TICK = 5.0
"""Seconds between two checks of all notebooks."""
IDLE_CPU_SECONDS = 5.0
"""CPU time that a notebook may use between two cells."""
ID_BYTES = 16
BOX_BYTES = 24 * MIB
"""Memory of the box around a notebook's process."""


class OpenNotebook:
    """One notebook and its owner."""

    def __init__(self, notebook: Notebook, owner: str, limits: Limits, idle_seconds: float) -> None:
        self.id = secrets.token_urlsafe(ID_BYTES)
        self.notebook = notebook
        self.owner = owner
        self.limits = limits
        self.idle_seconds = idle_seconds
        self.cells = 0
        self.busy = threading.Lock()
        self.used = time.monotonic()
        self.memory_bytes = BOX_BYTES
        self._cpu_seconds: float | None = None

    def rest(self) -> None:
        """Restart the idle time and forget the CPU time so far."""
        self.used = time.monotonic()
        self._cpu_seconds = None

    def is_over(self) -> bool:
        """Return True if it is idle for too long, has ended, or works between cells.

        Call it only while holding `busy`.
        """
        if not self.notebook.alive or time.monotonic() - self.used > self.idle_seconds:
            return True
        load = self.notebook.look()
        if load is None:
            return False
        self.memory_bytes = BOX_BYTES + load.memory_bytes
        if self._cpu_seconds is None:
            self._cpu_seconds = load.cpu_seconds
        return (
            load.cpu_seconds - self._cpu_seconds > IDLE_CPU_SECONDS
            or load.processes > self.limits.processes
            or load.memory_bytes > self.limits.memory_bytes
            or load.processes <= 0
        )


class NotebookRegistry:
    """All open notebooks of a service; safe for use by several threads."""

    def __init__(
        self,
        sandbox: Sandbox,
        max_open: int,
        max_open_per_owner: int,
        memory_bytes: int | None = None,
    ) -> None:
        """Set the bounds; `memory_bytes` defaults to half of the host's memory."""
        self._sandbox = sandbox
        self._memory_bytes = host_memory() // 2 if memory_bytes is None else memory_bytes
        self._max_open, self.max_open_per_owner = max_open, max_open_per_owner
        self._held: dict[str, OpenNotebook] = {}
        self._opening: list[str] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._keeper: threading.Thread | None = None

    @property
    def count(self) -> int:
        """Number of open notebooks."""
        return len(self._held)

    def open(self, owner: str, limits: Limits, idle_seconds: float) -> OpenNotebook:
        """Open a notebook, unless its owner or the service has too many."""
        self._reserve(owner)
        try:
            held = OpenNotebook(self._sandbox.notebook(limits), owner, limits, idle_seconds)
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
            too_many_of_one = owners.count(owner) >= self.max_open_per_owner
            if too_many_of_one or len(owners) >= self._max_open:
                limit = self.max_open_per_owner if too_many_of_one else self._max_open
                said = f"there may be {limit} open sessions at once; close one"
                raise ErrorResponse(HTTPStatus.TOO_MANY_REQUESTS, "sessions", said, 1.0)
            taken = sum(held.memory_bytes for held in self._held.values())
            if taken + BOX_BYTES * (len(self._opening) + 1) > self._memory_bytes:
                said = "open sessions use up the memory that there is for them"
                raise ErrorResponse(HTTPStatus.TOO_MANY_REQUESTS, "sessions", said, 1.0)
            self._opening.append(owner)
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._look_after, daemon=True)
                self._keeper.start()

    def of(self, owner: str) -> list[OpenNotebook]:
        """Return the notebooks of an owner."""
        with self._lock:
            return [held for held in self._held.values() if held.owner == owner]

    def find(self, owner: str, name: str) -> OpenNotebook:
        """Return a notebook by its id; another owner's counts as missing."""
        with self._lock:
            held = self._held.get(name)
        if held is None or held.owner != owner:
            raise ErrorResponse(HTTPStatus.NOT_FOUND, "not_found", "there is no such session")
        return held

    def drop(self, held: OpenNotebook) -> None:
        """Close a notebook, even while it runs a cell."""
        with self._lock:
            self._held.pop(held.id, None)
        held.notebook.close()

    def close(self) -> None:
        """Close all notebooks."""
        self._closed.set()
        with self._lock:
            everything = [*self._held.values()]
        for held in everything:
            self.drop(held)

    def _look_after(self) -> None:
        """Close notebooks that are over or too large, until the service ends."""
        while not self._closed.wait(TICK):
            with self._lock:
                everything = sorted(self._held.values(), key=lambda held: held.used)
            for held in everything:
                self._drop_if(held, held.is_over)
            for held in everything:
                self._drop_if(held, self._is_full)

    def _is_full(self) -> bool:
        with self._lock:
            return sum(held.memory_bytes for held in self._held.values()) > self._memory_bytes

    def _drop_if(self, held: OpenNotebook, condition: Callable[[], bool]) -> None:
        """Close a notebook if a condition holds, unless it runs a cell."""
        if held.busy.acquire(blocking=False):
            try:
                if condition():
                    self.drop(held)
            finally:
                held.busy.release()
