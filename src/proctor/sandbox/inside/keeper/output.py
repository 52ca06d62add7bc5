"""What a guest reads and writes, seen by its keeper: bounded, and wiped before the next comes."""

import os
import select

CHUNK, ROOM = 1 << 16, 1 << 14
"""How much there is room for at first: in one pipe of a guest that lives, in all of a dead one."""
AT_ONCE = 4096
"""What every pipe holds, so that writing it takes no time."""


class StdinFeed:
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


def read_memfd(fd: int) -> memoryview:
    """Return what is in a file, in memory that can be wiped."""
    try:
        buffer = bytearray(os.fstat(fd).st_size)
        os.readv(fd, [buffer])
        return memoryview(buffer)
    finally:
        os.close(fd)


class Stream:
    """What a guest writes to one pipe while it lives, up to a limit."""

    def __init__(self, fd: int, most: int) -> None:
        """Take what comes from a descriptor; at most so many bytes are kept."""
        self.fd, self._most = fd, most
        self._buffer = bytearray(CHUNK)
        self._length = 0

    def read(self) -> int | None:
        """Read some; return how much, None if there is more than there may be."""
        if self._length == len(self._buffer):
            self._buffer = grown(self._buffer)
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
        self._length = 0


def grown(buffer: bytearray) -> bytearray:
    """Return a larger buffer with the same beginning, and wipe the old one."""
    larger = bytearray(4 * len(buffer))
    larger[: len(buffer)] = buffer
    buffer[:] = bytes(len(buffer))
    return larger


class OutputCollector:
    """What a guest writes to all its pipes, and what it is still to read.

    Most guests are gone before anybody looks, and their pipes hold all that they wrote. Of others
    the pipes are drained as they are filled.
    """

    def __init__(self) -> None:
        self._pipes: tuple[tuple[int, int], ...] = ()
        self._streams: list[Stream] = []
        self._open: dict[int, Stream] = {}
        self._buffer = bytearray(ROOM)
        self._used = 0
        self.feed: StdinFeed | None = None
        self.too_long = False
        self.sizes: list[int] = []
        """How much of what was kept came from each pipe."""

    def begin(self, *pipes: tuple[int, int], feed: StdinFeed | None = None) -> None:
        """Listen to a new guest: descriptors, and how much of each is kept."""
        self._pipes, self.feed, self.too_long = pipes, feed, False

    def wipe(self) -> None:
        """Leave nothing of it in memory."""
        self._buffer[: self._used] = bytes(self._used)
        if len(self._buffer) > ROOM:
            self._buffer = bytearray(ROOM)
        for stream in self._streams:
            stream.wipe()
        self._streams, self._used, self.sizes = [], 0, []

    def watch(self, poll: select.poll) -> None:
        """Have the pipes drained, and the input fed, from now on; what was read before is kept."""
        if not self._streams:
            self._streams = [Stream(*pipe) for pipe in self._pipes]
            self._open = {stream.fd: stream for stream in self._streams}
        for fd in self._open:
            poll.register(fd, select.POLLIN)
        if self.feed is not None and self.feed.writing >= 0:
            poll.register(self.feed.writing, select.POLLOUT)

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
        return self.feed is not None and fd == self.feed.writing and self.feed.more()

    def finish(self) -> list[memoryview]:
        """Read the rest, which nobody can add to any more, and return all of it in order.

        There need not be an end to it: a descriptor that was sent to a socket which nobody can
        receive from any more stays open until the kernel comes to look for such.
        """
        if self.feed is not None:
            self.feed.end()
        self.sizes = []
        if self._streams:
            return self._read_on()
        # all into one buffer: for whatever we touch, the next fork pays
        at = 0
        for fd, most in self._pipes:
            os.set_blocking(fd, False)
            start, full = at, True
            while full:  # a pipe that does not fill the buffer is empty
                if at == len(self._buffer):
                    self._buffer = grown(self._buffer)
                try:
                    at += os.readv(fd, [memoryview(self._buffer)[at:]])
                except BlockingIOError:
                    pass
                full = at == len(self._buffer)
            os.close(fd)
            if at - start > most:
                self._buffer[start + most : at] = bytes(at - start - most)
                at, self.too_long = start + most, True
            self.sizes.append(at - start)
        self._used = at
        return [memoryview(self._buffer)[:at]]

    def _read_on(self) -> list[memoryview]:
        for stream in self._streams:
            if stream.fd in self._open:
                os.set_blocking(stream.fd, False)
                self._read_all(stream.fd)
            os.close(stream.fd)
            self.sizes.append(len(stream.kept))
        return [stream.kept for stream in self._streams]

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
