"""What a guest reads and writes, seen by its keeper: bounded, and wiped before the next comes."""

import os
import select

CHUNK = 1 << 16
AT_ONCE = 4096
"""What every pipe holds, so that writing it takes no time."""


class Feed:
    """Standard input of a program: a pipe that is filled as it is read.

    A program can open that and its outputs by name, too, although it is another user than we are.
    """

    def __init__(self, data: memoryview, *outputs: int) -> None:
        self._rest = data
        self.reading, self.writing = os.pipe()
        os.fchmod(self.reading, 0o444)
        for fd in outputs:
            os.fchmod(fd, 0o222)
        if len(data) <= AT_ONCE:
            self.more()
        else:
            os.set_blocking(self.writing, False)

    def more(self) -> bool:
        """Write what fits, and say whether that was all."""
        try:
            self._rest = self._rest[os.write(self.writing, self._rest) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._rest = self._rest[:0]  # it does not want to read on, which is its right
        if not self._rest:
            self.end()
        return not self._rest

    def end(self) -> None:
        """Say that there is no more to come."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1


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
        if length > room:
            self._buffer[self._most : self._length + length] = bytes(length - room)
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
    """What a guest writes to all its pipes, and what it is still to read."""

    def __init__(self) -> None:
        self._streams = [Stream(), Stream(), Stream()]
        self._used: list[Stream] = []
        self._open: dict[int, Stream] = {}
        self._feed: Feed | None = None
        self.too_long = False

    def begin(self, *pipes: tuple[int, int], feed: Feed | None = None) -> None:
        """Listen to a new guest: descriptors, and how much of each is kept."""
        self.too_long = False
        self._feed = feed
        if feed is not None:
            os.close(feed.reading)
        self._used = self._streams[: len(pipes)]
        for stream, (fd, most) in zip(self._used, pipes, strict=True):
            stream.begin(fd, most)
            self._open[fd] = stream

    @property
    def feeding(self) -> bool:
        """Whether there is more to read for the guest than its pipe holds."""
        return self._feed is not None and self._feed.writing >= 0

    def wipe(self) -> None:
        """Leave nothing of it in memory."""
        for stream in self._used:
            stream.wipe()

    def watch(self, poll: select.poll) -> None:
        """Have the streams drained, and the input fed, from now on."""
        for stream in self._used:
            poll.register(stream.fd, select.POLLIN)
        if self._feed is not None and self._feed.writing >= 0:
            poll.register(self._feed.writing, select.POLLOUT)

    def take(self, ready: list[int], poll: select.poll) -> bool:
        """Read what has come, write what can go; True if it is more than there may be."""
        for fd in ready:
            if self._done(fd):
                poll.unregister(fd)
        return self.too_long

    def _done(self, fd: int) -> bool:
        """Read or write some, and say whether that was all."""
        if fd in self._open:
            return not self._read(fd)
        return self._feed is not None and fd == self._feed.writing and self._feed.more()

    def finish(self) -> list[memoryview]:
        """Read the rest, which nobody can add to any more, and return all of it.

        There need not be an end to it: a descriptor that was sent to a socket which nobody can
        receive from any more stays open until the kernel comes to look for such.
        """
        if self._feed is not None:
            self._feed.end()
        for stream in self._used:
            if stream.fd in self._open:
                os.set_blocking(stream.fd, False)
                self._read_all(stream.fd)
            os.close(stream.fd)
        return [stream.kept for stream in self._used]

    def _read_all(self, fd: int) -> None:
        try:
            while self._read(fd):
                pass
        except BlockingIOError:
            del self._open[fd]

    def _read(self, fd: int) -> bool:
        length = self._open[fd].read()
        self.too_long = self.too_long or length is None
        if not length:
            del self._open[fd]
        return bool(length)
