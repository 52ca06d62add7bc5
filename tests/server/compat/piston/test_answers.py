"""Every ending in Piston's words."""

import pytest

from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
    Usage,
)
from proctor.server.compat.piston.answers import stage


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (Exited(0), (0, None, None, None)),
        (Exited(2), (2, None, "RE", "Exited with error status 2")),
        (Signalled(9), (None, "SIGKILL", "SG", "Caught fatal signal 9")),
        (Signalled(63), (None, "SIG63", "SG", "Caught fatal signal 63")),
        (TimedOut("cpu"), (None, "SIGKILL", "TO", "Time limit exceeded")),
        (TimedOut("wall"), (None, "SIGKILL", "TO", "Time limit exceeded (wall clock)")),
        (OutOfMemory(), (None, "SIGKILL", "SG", "Caught fatal signal 9")),
        (OutputTooLong(), (None, "SIGKILL", "OL", "stdout length exceeded")),
        (Denied("this"), (None, "SIGKILL", "SG", "Ended because it tried this")),
        (SandboxFailed("gone"), (None, None, "XX", "gone")),
    ],
)
def test_an_ending_has_words(ending, told):
    execution = Execution(ending=ending, stdout=b"ab", stderr=b"c")
    found = stage(execution, 2)
    assert (found.code, found.signal, found.status, found.message) == told
    assert (found.stdout, found.stderr, found.output) == ("ab", "c", "abc")


def test_usage_is_in_bytes_and_milliseconds():
    usage = Usage(cpu_seconds=0.1234, wall_seconds=1.5, memory_bytes=7)
    found = stage(Execution(ending=Exited(0), usage=usage), 1)
    assert (found.cpu_time, found.wall_time, found.memory) == (123, 1500, 7)
