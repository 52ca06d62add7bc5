"""The keeper's side of a guest's input and output: bounded, and wiped before the next guest."""

import os
import select

STREAM_BUFFER_BYTES, OUTPUT_BUFFER_BYTES = 1 << 16, 1 << 14
"""Initial sizes: for each pipe of a running guest, and for all pipes of one that has ended."""
PIPE_BYTES = 4096
"""The least that a pipe can hold: a write of up to that size never blocks."""


class StdinFeed:
    """Standard input of a program: a pipe that is filled as the program reads it.

    The modes of the pipes allow the program, which runs as another user, to open them by name
    (/dev/stdin).
    """

    def __init__(self, data: memoryview, *outputs: int) -> None:
        self._rest = data
        self.reading, self.writing = os.pipe()
        os.fchmod(self.reading, 0o444)
        for fd in outputs:
            os.fchmod(fd, 0o222)
        if len(data) <= PIPE_BYTES:
            self.write_some()
        else:
            os.set_blocking(self.writing, False)

    def write_some(self) -> bool:
        """Write what fits into the pipe; return True if nothing is left to write."""
        try:
            self._rest = self._rest[os.write(self.writing, self._rest) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._rest = self._rest[:0]  # the program has closed its input, as it may
        if not self._rest:
            self.close()
        return not self._rest

    def close(self) -> None:
        """Close the pipe: the program reads to the end of its input."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1


def read_memfd(fd: int) -> memoryview:
    """Return the content of a file in memory that can be wiped, and close the file."""
    try:
        buffer = bytearray(os.fstat(fd).st_size)
        os.readv(fd, [buffer])
        return memoryview(buffer)
    finally:
        os.close(fd)


class Stream:
    """The output that a running guest writes to one pipe, up to a limit."""

    def __init__(self, fd: int, max_bytes: int) -> None:
        """Read from a descriptor and keep at most `max_bytes`."""
        self.fd, self._max_bytes = fd, max_bytes
        self._buffer = bytearray(STREAM_BUFFER_BYTES)
        self._length = 0

    def read(self) -> int | None:
        """Read once; return how many bytes, or None if that exceeds the limit."""
        if self._length == len(self._buffer):
            self._buffer = grow(self._buffer)
        length = os.readv(self.fd, [memoryview(self._buffer)[self._length :]])
        free = self._max_bytes - self._length
        if length > free:
            self._buffer[self._max_bytes : self._length + length] = bytes(length - free)
        self._length += min(length, free)
        return None if length > free else length

    @property
    def data(self) -> memoryview:
        """What was read so far."""
        return memoryview(self._buffer)[: self._length]

    def wipe(self) -> None:
        """Wipe all output from memory."""
        self._buffer[: self._length] = bytes(self._length)
        self._length = 0


def grow(buffer: bytearray) -> bytearray:
    """Return a larger copy of a buffer, and wipe the old one."""
    larger = bytearray(4 * len(buffer))
    larger[: len(buffer)] = buffer
    buffer[:] = bytes(len(buffer))
    return larger


class OutputCollector:
    """Collects what a guest writes to all its pipes, and feeds its standard input.

    Most guests end before their pipes are full: then `finish` reads each pipe once. `watch` and
    `take` drain the pipes of the others while they run.
    """

    def __init__(self) -> None:
        self._pipes: tuple[tuple[int, int], ...] = ()
        self._streams: list[Stream] = []
        self._open: dict[int, Stream] = {}
        self._buffer = bytearray(OUTPUT_BUFFER_BYTES)
        self._used = 0
        self.feed: StdinFeed | None = None
        self.too_long = False
        self.sizes: list[int] = []
        """How many bytes were kept from each pipe."""

    def start(self, *pipes: tuple[int, int], feed: StdinFeed | None = None) -> None:
        """Start with a new guest: a descriptor and the maximum number of bytes for each pipe."""
        self._pipes, self.feed, self.too_long = pipes, feed, False

    def wipe(self) -> None:
        """Wipe all output from memory."""
        self._buffer[: self._used] = bytes(self._used)
        if len(self._buffer) > OUTPUT_BUFFER_BYTES:
            self._buffer = bytearray(OUTPUT_BUFFER_BYTES)
        for stream in self._streams:
            stream.wipe()
        self._streams, self._used, self.sizes = [], 0, []

    def watch(self, poll: select.poll) -> None:
        """Start draining the pipes and feeding the input; keeps what an earlier watch has read."""
        if not self._streams:
            self._streams = [Stream(*pipe) for pipe in self._pipes]
            self._open = {stream.fd: stream for stream in self._streams}
        for fd in self._open:
            poll.register(fd, select.POLLIN)
        if self.feed is not None and self.feed.writing >= 0:
            poll.register(self.feed.writing, select.POLLOUT)

    def take(self, ready: list[int], poll: select.poll) -> bool:
        """Read and write where that is possible; return True if a limit was exceeded."""
        for fd in ready:
            if self._handle(fd):
                poll.unregister(fd)
        return self.too_long

    def _handle(self, fd: int) -> bool:
        """Read or write once; return True if the descriptor is finished."""
        if fd in self._open:
            return not self._read(fd)
        return self.feed is not None and fd == self.feed.writing and self.feed.write_some()

    def finish(self) -> list[memoryview]:
        """Read the rest after the guest has ended; return all output in the order of the pipes.

        Do not wait for the end of a pipe: if the guest sent its descriptor to a socket that is now
        orphaned, it stays open until the kernel collects such sockets.
        """
        if self.feed is not None:
            self.feed.close()
        self.sizes = []
        if self._streams:
            return self._read_streams()
        # use one buffer: every page that is written here makes the next fork slower
        end = 0
        for fd, max_bytes in self._pipes:
            os.set_blocking(fd, False)
            begin, full = end, True
            while full:  # a pipe that does not fill the buffer is empty
                if end == len(self._buffer):
                    self._buffer = grow(self._buffer)
                try:
                    end += os.readv(fd, [memoryview(self._buffer)[end:]])
                except BlockingIOError:
                    pass
                full = end == len(self._buffer)
            os.close(fd)
            if end - begin > max_bytes:
                self._buffer[begin + max_bytes : end] = bytes(end - begin - max_bytes)
                end, self.too_long = begin + max_bytes, True
            self.sizes.append(end - begin)
        self._used = end
        return [memoryview(self._buffer)[:end]]

    def _read_streams(self) -> list[memoryview]:
        for stream in self._streams:
            if stream.fd in self._open:
                os.set_blocking(stream.fd, False)
                self._read_all(stream.fd)
            os.close(stream.fd)
            self.sizes.append(len(stream.data))
        return [stream.data for stream in self._streams]

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
