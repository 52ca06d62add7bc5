"""Waiting for a guest: until it and all it started are gone, or it has something to say."""

import select
import socket

from ..isolation.environment import GuestEnvironment, GuestProcess
from .output import OutputCollector

MAX_PACKET = 1 << 17
HASTE_MILLISECONDS = 20
"""How long a guest may take before its output is looked at: most are gone by then."""


class GuestWait:
    """The keeper's eyes on one guest, on what it writes, and on who may have it killed."""

    def __init__(
        self, control: socket.socket, nest: GuestEnvironment, said: OutputCollector
    ) -> None:
        self._control = control
        self._nest = nest
        self._said = said
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def wait(self, ward: GuestProcess, line: int = -1) -> int | None:
        """Wait until the guest and all it started are gone; None if a line is heard before."""
        feed = self._said.feed
        if feed is not None and feed.writing >= 0:  # there is more than a pipe holds
            return self._attend(ward, line)
        watched = (ward.death,) if line < 0 else (ward.death, line)
        for fd in watched:
            self._poll.register(fd, select.POLLIN)
        ready = self._poll.poll(HASTE_MILLISECONDS)
        for fd in watched:
            self._poll.unregister(fd)
        if len(ready) == 1 and ready[0][0] == line:
            return None
        if len(ready) == 1 and ready[0][0] == ward.death:
            code = ward.reap()
            if code is not None:
                return code
        return self._attend(ward, line)

    def _attend(self, ward: GuestProcess, line: int) -> int | None:
        """Wait for a guest that takes its time: drain what it writes, kill it if that is asked."""
        poll = select.poll()
        for fd in (self._control.fileno(), ward.death, *(() if line < 0 else (line,))):
            poll.register(fd, select.POLLIN)
        self._said.watch(poll)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if ward.death in ready:
                code = ward.reap()
                if code is not None:
                    return code
            elif line in ready:
                return None
            if self._control.fileno() in ready:
                self._nest.kill()  # the only order that can come, unless the supervisor is gone
                if not self._control.recv(MAX_PACKET):
                    poll.unregister(self._control)
            if self._said.take(ready, poll):
                self._nest.kill()
