"""The socket between supervisor and keeper: orders out, answers in, one packet each.

A packet is a JSON header, a newline, and raw bytes that belong to it. What does not fit into a
packet travels in a file whose descriptor is sent along.
"""

import errno
import json
import os
import select
import socket
import struct
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from proctor.errors import GIVES_OUT, HostError, SandboxError

MAX_PACKET = 1 << 17
INLINE = 1 << 16
FD = struct.Struct("i")
SPACE = socket.CMSG_SPACE(FD.size) if hasattr(socket, "CMSG_SPACE") else 0  # no boxes there


class Answer(NamedTuple):
    """What a keeper said."""

    header: dict[str, Any]
    blob: bytes = b""
    fds: Sequence[int] = ()


GONE = Answer({})
"""The keeper is no more."""


class Control:
    """The supervisor's end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._both = self._poll
        self._packet = memoryview(bytearray(MAX_PACKET))
        self.alarmed = False
        """Whether something else than an answer came while one was waited for."""

    def heed(self, alarm: int, events: int) -> None:
        """Wait for an alarm, too, from now on."""
        self._both = select.poll()
        self._both.register(self.connection, select.POLLIN)
        self._both.register(alarm, events)

    def order(self, fds: Sequence[int] = (), blob: bytes = b"", **order: Any) -> None:
        """Send one order."""
        self.send(json.dumps(order).encode(), fds, blob)

    def send(self, header: bytes, fds: Sequence[int] = (), blob: bytes = b"") -> None:
        """Send one order whose header is encoded already."""
        try:
            if len(blob) <= INLINE:
                _send(self.connection, [header, b"\n", blob], fds)
                return
            with tempfile.TemporaryFile() as file:
                file.write(blob)
                file.seek(0)
                attached = header[:-1] + b',"attached":true}\n'
                _send(self.connection, [attached], [*fds, file.fileno()])
        except OSError as error:
            if error.errno in GIVES_OUT:  # the sandbox is there, but nothing can be sent to it
                raise HostError(f"cannot send to a box: {error.strerror}") from error
            raise SandboxError(f"the sandbox is gone: {error}") from error

    def wait(self, seconds: float) -> bool:
        """Say whether an answer comes within some time."""
        return bool(self._poll.poll(seconds * 1000))

    def wait_or_alarm(self, seconds: float) -> bool:
        """Say whether an answer comes within some time, and before an alarm without one."""
        ready = self._both.poll(seconds * 1000)
        answer = any(fd == self.connection.fileno() for fd, _ in ready)
        self.alarmed = len(ready) > answer
        return answer

    def answer(self) -> Answer:
        """Wait for one answer."""
        try:
            length, ancillary, _, _ = self.connection.recvmsg_into([self._packet], SPACE)
        except OSError:
            return GONE
        fds = [fd for _, _, data in ancillary for (fd,) in FD.iter_unpack(data)]
        header, _, blob = bytes(self._packet[:length]).partition(b"\n")
        answer = msgspec.json.decode(header) if header else {}
        if answer.pop("attached", False):
            if not fds:  # the system could give us no descriptor of it
                raise HostError(f"cannot hear from a box: {os.strerror(errno.EMFILE)}")
            with os.fdopen(fds.pop(), "rb") as file:
                blob = file.read()
        return Answer(answer, blob, fds)


def _send(connection: socket.socket, parts: Sequence[bytes], fds: Sequence[int]) -> None:
    """Send a packet; `socket.send_fds` is slow for a packet without descriptors."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(FD.pack, fds)))] if fds else []
    connection.sendmsg(parts, rights)
