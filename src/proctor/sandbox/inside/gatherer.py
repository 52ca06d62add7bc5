"""What a guest writes, read by its keeper: bounded, and wiped before the next guest comes."""

import os
import select

CHUNK = 1 << 16


class Stream:
    """What a guest writes to one pipe, up to a limit."""

    def __init__(self) -> None:
        self._buffer = bytearray(CHUNK)
        self._length = 0
        self._most = 0
        self.fd = -1

    def begin(self, fd: int, most: int) -> None:
        """Take what comes from a descriptor; at most so many bytes are kept."""
        self.fd, self._most = fd, most

    def read(self) -> int | None:
        """Read some; return how much, None if there is more than there may be."""
        if self._length == len(self._buffer):
            self._grow()
        length = os.readv(self.fd, [memoryview(self._buffer)[self._length :]])
        room = self._most - self._length
        self._length += min(length, room)
        return None if length > room else length

    @property
    def kept(self) -> memoryview:
        """What has come."""
        return memoryview(self._buffer)[: self._length]

    def wipe(self) -> None:
        """Leave nothing of it in memory."""
        self._buffer[: self._length] = bytes(self._length)
        if len(self._buffer) > CHUNK:
            self._buffer = bytearray(CHUNK)
        self._length = 0

    def _grow(self) -> None:
        small, self._buffer = self._buffer, bytearray(4 * len(self._buffer))
        self._buffer[: self._length] = small
        small[:] = bytes(len(small))


class Gatherer:
    """What a guest writes to all its pipes."""

    def __init__(self) -> None:
        self._streams = [Stream(), Stream(), Stream()]
        self._open: dict[int, Stream] = {}
        self.too_long = False

    def begin(self, *pipes: tuple[int, int]) -> None:
        """Listen to a new guest: descriptors, and how much of each is kept."""
        self.too_long = False
        for stream, (fd, most) in zip(self._streams, pipes, strict=True):
            stream.begin(fd, most)
            self._open[fd] = stream

    def wipe(self) -> None:
        """Leave nothing of it in memory."""
        for stream in self._streams:
            stream.wipe()

    def watch(self, poll: select.poll) -> None:
        """Have the streams drained from now on."""
        for stream in self._streams:
            poll.register(stream.fd, select.POLLIN)

    def take(self, ready: list[int], poll: select.poll) -> bool:
        """Read what has come; True if it is more than there may be."""
        for fd in ready:
            if fd in self._open and not self._read(fd):
                poll.unregister(fd)
        return self.too_long

    def finish(self) -> list[memoryview]:
        """Read the rest, which nobody can add to any more, and return all of it."""
        for stream in self._streams:
            while stream.fd in self._open and self._read(stream.fd):
                pass
            os.close(stream.fd)
        return [stream.kept for stream in self._streams]

    def _read(self, fd: int) -> bool:
        length = self._open[fd].read()
        self.too_long = self.too_long or length is None
        if not length:
            del self._open[fd]
        return bool(length)
