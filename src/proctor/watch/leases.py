"""One watcher works on a job, and another one takes over when he dies.

A lease is a file with a number, `lease.N`, made by link(2), which exactly one of many succeeds in,
on NFS too. It is never changed, moved or removed: whoever takes over makes `lease.N+1`, so nobody
can take away what he did not look at. The holder gives signs of life in `beat.N`, which he alone
writes. Others read it now and then; if it stays the same for `lease_seconds` *of their own clock*,
he is dead. No time of one host is ever compared with one of another.

Dead may be wrong: a machine that slept, a network that was cut. So a holder looks whether there is
a later lease, and whether he was able to give a sign in time, before he believes in himself; and
nothing he writes is where his successor writes.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.storage.journal import writing
from proctor.storage.jsonl import read_whole

MAX_BYTES = 1 << 20
Record = TypeVar("Record")
BEATS = 6
"""Signs of life in the time after which a holder is taken to be dead."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a lease."""

    host: str
    pid: int
    token: str
    """Of one watcher, like no other."""
    since: str
    schema: int = 1


class Heartbeat(msgspec.Struct, frozen=True):
    """A sign of life: what matters is that it is another one each time."""

    number: int
    at: str
    """By the holder's clock, for people."""


class Why(StrEnum):
    """Why a holder let go."""

    INTERRUPTED = "interrupted"
    """Nothing is wrong with the job; it does not count as an attempt."""
    FAILED = "failed"
    FINISHED = "finished"


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """How a lease ended."""

    why: Why
    reason: str = ""
    schema: int = 1


def create_once(path: Path, content: bytes) -> bool:
    """Write a file that is not there yet, whole; return whether it was us who did."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with writing(path):
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(beside, path)
            except FileExistsError:
                return beside.stat().st_nlink > 1  # NFS may have done it and lost its answer
            return True
        finally:
            beside.unlink(missing_ok=True)


def latest(folder: Path) -> int:
    """Return the number of the newest lease, 0 if there is none."""
    numbers = [0]
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            kind, _, number = path.name.partition(".")
            if kind == "lease" and number.isascii() and number.isdigit():
                numbers.append(int(number))
    return max(numbers)


def released(folder: Path, number: int) -> Released | None:
    """Return how a lease ended, None if it did not or its holder had no time to say so."""
    return read_record(folder / f"released.{number}", Released)


def holder(folder: Path, number: int) -> Holder | None:
    """Return who holds a lease."""
    return read_record(folder / f"lease.{number}", Holder)


def failures(folder: Path) -> list[str]:
    """Return why each attempt that counts came to nothing, the newest last.

    One that ended without a word counts: a checkpoint that brings its watcher down must not bring
    down one after the other for ever.
    """
    found = []
    for number in range(1, latest(folder) + 1):
        end = released(folder, number)
        if end is None:
            found.append("its watcher died")
        elif end.why is Why.FAILED:
            found.append(end.reason)
    return found


def read_record(path: Path, kind: type[Record]) -> Record | None:
    """Return what a file holds, None if it is not there or is nothing of ours."""
    try:
        return msgspec.json.decode(read_whole(path, MAX_BYTES), type=kind)
    except (InputError, ValueError, RecursionError):
        return None


class Leases:
    """What one watcher has seen of others' signs of life."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._token = uuid.uuid4().hex
        self._seen: dict[Path, tuple[bytes, float]] = {}

    def take(self, folder: Path) -> "Lease | None":
        """Take a job, unless somebody else has it."""
        number = latest(folder)
        if number and released(folder, number) is None and not self._is_dead(folder, number):
            return None
        self._seen.pop(folder / f"beat.{number}", None)
        mine = Holder(
            host=socket.gethostname(),
            pid=os.getpid(),
            token=self._token,
            since=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        if not create_once(folder / f"lease.{number + 1}", encode(mine)):
            return None
        return Lease(folder, number + 1, self.seconds, self._clock)

    def _is_dead(self, folder: Path, number: int) -> bool:
        beat = folder / f"beat.{number}"
        try:
            said = read_whole(beat, MAX_BYTES)
        except InputError:
            said = b""  # it has not begun to beat
        before = self._seen.get(beat)
        if before is None or before[0] != said:
            self._seen[beat] = said, self._clock()
            return False
        return self._clock() - before[1] >= self.seconds


class Lease:
    """A job that is ours, as long as `lost` is not set; gives signs of life while it is open."""

    def __init__(
        self, folder: Path, number: int, seconds: float, clock: Callable[[], float]
    ) -> None:
        self.folder, self.number = folder, number
        self.lost = threading.Event()
        self._seconds, self._clock = seconds, clock
        self._over = threading.Event()
        self._beats = 0
        self._last = clock()
        self.beat()
        self._thread = threading.Thread(target=self._live, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        while not self._over.wait(self._seconds / BEATS) and not self.lost.is_set():
            self.beat()

    def beat(self) -> None:
        """Give a sign of life, or find out that it is too late."""
        if self._clock() - self._last > self._seconds or self._is_taken():
            self.lost.set()
            return
        self._beats += 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        place = self.folder / f"beat.{self.number}"
        beside = place.with_name(f".{place.name}")
        with suppress(OSError):  # the next one may succeed; if none does, we are lost
            beside.write_bytes(encode(Heartbeat(self._beats, now)))
            beside.replace(place)
            self._last = self._clock()

    def holds(self) -> bool:
        """Look once more whether it is ours."""
        if self._clock() - self._last > self._seconds or self._is_taken():
            self.lost.set()
        return not self.lost.is_set()

    def _is_taken(self) -> bool:
        return (self.folder / f"lease.{self.number + 1}").exists()

    def release(self, why: Why, reason: str = "") -> None:
        """Let go of it, so that nobody has to wait for our death."""
        end = Released(why=why, reason=reason)
        create_once(self.folder / f"released.{self.number}", encode(end))
