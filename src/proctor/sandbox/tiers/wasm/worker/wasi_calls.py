"""What stands between a guest and the pipes of its worker: where it reads and writes, and how much.

The methods of a desk are called by the guest, with whatever numbers it likes.
"""

import json
import os
import struct
import sys
import threading
import time
from itertools import count, islice
from queue import SimpleQueue
from typing import Any

from wasmtime import Store

if sys.platform != "win32":
    import resource

HEADER = struct.Struct("<cI")
MASK = 0xFFFFFFFF
BAD_DESCRIPTOR = 8
MAX_VECTORS = 1024
MAX_BYTES = 4 << 20
"""Read or written at once."""
MAX_STAGES = 4096
MAX_DESCRIPTORS = 64
MAX_NAME = 16
STDIN, STDOUT, STDERR, BORDER, STAGES, GIVEN, CLOSED = b"I", b"O", b"E", b"B", b"G", b"A", b""
"""What descriptors of ours lead to: where a guest writes to, also the letter of the message."""
ONCE = (STAGES, GIVEN)
"""These are for us: once they are closed, no candidate can open them again."""
DOOR = {b"border": BORDER, b"stages": STAGES, b"given": GIVEN}


class Channel:
    """The pipes between supervisor and worker."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        self._lock = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)  # whatever else is read or printed here is no message
        os.dup2(nothing, 1)
        os.close(nothing)

    def send(self, kind: bytes, payload: bytes) -> None:
        """Send one message whole."""
        data = memoryview(HEADER.pack(kind, len(payload)) + payload)
        with self._lock:
            try:
                while data:
                    data = data[self._out.write(data) :]
            except OSError:
                os._exit(1)  # nobody listens

    def receive(self) -> tuple[bytes, bytes] | None:
        """Wait for one message; None if the supervisor is gone."""
        header = self._in.read(HEADER.size)
        if len(header) < HEADER.size:
            return None
        kind, length = HEADER.unpack(header)
        payload = self._in.read(length)
        return (kind, payload) if len(payload) == length else None


class Stop(Exception):
    """The guest goes no further."""


class GuestExit(Exception):
    """The guest ended by itself."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class WasiCalls:
    """What one guest reads from and writes to, and how much of it."""

    def __init__(self, channel: Channel, payload: bytes) -> None:
        header, _, rest = payload.partition(b"\n")
        self.order: dict[str, Any] = json.loads(header)
        self.inbox: SimpleQueue[bytes] = SimpleQueue()
        self.killed = self.too_long = False
        self.done = threading.Event()
        self._lock = threading.Lock()
        self.begin = 0.0
        """How much processor time this process had taken when the guest was set up."""
        self._channel = channel
        self._ends = {0: STDIN, 1: STDOUT, 2: STDERR}
        size = self.order["stdin_bytes"]
        self._sources = {
            STDIN: memoryview(rest)[:size],
            GIVEN: memoryview(rest)[size:],
            BORDER: memoryview(b""),
        }
        output, border = self.order["output_bytes"], self.order["answer_bytes"]
        self._room = {STDOUT: output, STDERR: output, STAGES: MAX_STAGES}
        if border is None:  # a program has none
            del self._sources[BORDER]
        else:
            self._room[BORDER] = border
        self._store: Any = None
        self._memory: Any = None
        self.mask: Any = None
        """A number in the guest's store whose bits say which descriptors are ours."""

    def tick(self) -> None:
        """Tell how much processor time was used, unless it is over."""
        with self._lock:
            if not self.done.is_set():
                self._channel.send(b"T", b"%.6f" % (time.process_time() - self.begin))

    def finish(self) -> None:
        """Tell no more: what comes next is about another guest."""
        with self._lock:
            self.done.set()

    def proc_exit(self, code: int) -> None:
        """End the guest as it wishes."""
        raise GuestExit(code & 255)

    def attach(self, store: Store, memory: Any) -> None:
        """Serve one guest, whose memory this is."""
        self._store, self._memory = store, memory

    def memory_bytes(self) -> int:
        """Return how much memory the guest has."""
        return 0 if self._memory is None else int(self._memory.data_len(self._store))

    def limit(self) -> None:
        """Have the kernel limit files, where it does; this process has no more than its guest's."""
        if sys.platform == "win32":
            return
        own = set(map(int, os.listdir("/dev/fd")))  # noqa: PTH208
        free = (number for number in count() if number not in own)
        for which, most in (
            (resource.RLIMIT_FSIZE, self.order["file_bytes"]),
            (resource.RLIMIT_NOFILE, next(islice(free, self.order["open_files"], None))),
        ):
            hard = resource.getrlimit(which)[1]
            known = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (known, hard))

    def opened(self, name: int, length: int, result: int) -> None:
        """Learn which descriptor a guest has got for something behind the door."""
        name, length, result = name & MASK, length & MASK, result & MASK
        if length > MAX_NAME or max(name + length, result + 4) > self.memory_bytes():
            raise Stop
        end = DOOR.get(bytes(self._memory.read(self._store, name, name + length)))
        fd = int.from_bytes(self._memory.read(self._store, result, result + 4), "little")
        if end is not None and fd < MAX_DESCRIPTORS:
            self._ends[fd] = end
            self.mask.set_value(self._store, sum(1 << one for one in self._ends))

    def fd_write(self, fd: int, vectors: int, count: int, result: int) -> int:
        """Take what a guest writes, as far as there is room for it."""
        self._mind()
        end = self._ends.get(fd, CLOSED)
        if end not in self._room:
            return BAD_DESCRIPTOR
        data = b"".join(
            self._memory.read(self._store, begin, begin + size)
            for begin, size in self._vectors(vectors, count)
        )
        room = self._room[end]
        if end == STAGES and room == MAX_STAGES:
            self.begin = time.process_time()
        self._room[end] = room - len(data)
        if data:
            self._channel.send(end, data[:room])
        if len(data) > room:
            self.too_long = True
            raise Stop
        return self._answer(result, len(data))

    def fd_read(self, fd: int, vectors: int, count: int, result: int) -> int:
        """Give a guest what there is to read; over the border, wait for it."""
        self._mind()
        end = self._ends.get(fd, CLOSED)
        if end not in self._sources:
            return BAD_DESCRIPTOR
        wanted = self._vectors(vectors, count)
        if end == BORDER and not self._sources[end]:
            self._sources[end] = memoryview(self.inbox.get())
            self._mind()
        total = 0
        for begin, size in wanted:
            part, self._sources[end] = self._sources[end][:size], self._sources[end][size:]
            if part:
                self._memory.write(self._store, part, begin)
            total += len(part)
        return self._answer(result, total)

    def fd_close(self, fd: int) -> int:
        """Close one of ours; its number is never given to another file."""
        end = self._ends.get(fd, CLOSED)
        if end == CLOSED:
            return BAD_DESCRIPTOR
        self._ends[fd] = CLOSED
        if end in ONCE:
            self._sources.pop(end, None)
            self._room.pop(end, None)
        return 0

    def _mind(self) -> None:
        if self.killed:
            raise Stop

    def _vectors(self, begin: int, count: int) -> list[tuple[int, int]]:
        """Read where in a guest's memory something is to lie, all of it within that memory."""
        begin, count, size = begin & MASK, count & MASK, self.memory_bytes()
        if count > MAX_VECTORS or begin + 8 * count > size:
            raise Stop
        raw = bytes(self._memory.read(self._store, begin, begin + 8 * count))
        found: list[tuple[int, int]] = []
        room = MAX_BYTES
        for at, length in struct.iter_unpack("<II", raw):
            if at + length > size:
                raise Stop
            found.append((at, min(length, room)))
            room -= found[-1][1]
        return found

    def _answer(self, result: int, number: int) -> int:
        result &= MASK
        if result + 4 > self.memory_bytes():
            raise Stop
        self._memory.write(self._store, struct.pack("<I", number), result)
        return 0
