"""Waits until a guest and everything it started have ended, or until it sends a message."""

import select
import socket

from ..isolation.environment import GuestEnvironment, GuestProcess
from .output import OutputCollector

MAX_PACKET = 1 << 17
FAST_EXIT_MILLISECONDS = 20
"""How long to wait before draining the output of a guest; most guests end sooner."""


class GuestWait:
    """Waits for one guest at a time, for its output, and for orders to kill it."""

    def __init__(
        self, control: socket.socket, environment: GuestEnvironment, output: OutputCollector
    ) -> None:
        self._control = control
        self._environment = environment
        self._output = output
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def wait(self, guest: GuestProcess, connection: int = -1) -> int | None:
        """Return the guest's exit code, or None as soon as `connection` has a message."""
        feed = self._output.feed
        if feed is not None and feed.writing >= 0:  # the input does not fit into the pipe
            return self._drain_and_wait(guest, connection)
        fds = (guest.exit_fd,) if connection < 0 else (guest.exit_fd, connection)
        for fd in fds:
            self._poll.register(fd, select.POLLIN)
        ready = self._poll.poll(FAST_EXIT_MILLISECONDS)
        for fd in fds:
            self._poll.unregister(fd)
        if len(ready) == 1 and ready[0][0] == connection:
            return None
        if len(ready) == 1 and ready[0][0] == guest.exit_fd:
            code = guest.reap()
            if code is not None:
                return code
        return self._drain_and_wait(guest, connection)

    def _drain_and_wait(self, guest: GuestProcess, connection: int) -> int | None:
        """Wait for a slow guest: drain its output, kill it when ordered or at the output limit."""
        poll = select.poll()
        connections = () if connection < 0 else (connection,)
        for fd in (self._control.fileno(), guest.exit_fd, *connections):
            poll.register(fd, select.POLLIN)
        self._output.watch(poll)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if guest.exit_fd in ready:
                code = guest.reap()
                if code is not None:
                    return code
            elif connection in ready:
                return None
            if self._control.fileno() in ready:
                self._environment.kill()  # the order is `kill`, or the supervisor is gone
                if not self._control.recv(MAX_PACKET):
                    poll.unregister(self._control)
            if self._output.take(ready, poll):
                self._environment.kill()
