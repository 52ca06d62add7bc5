"""A box that cannot be started, reached or found: the host is to blame, or the box, never a guest."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
from typing import NoReturn

import pytest

from proctor import fork_safe_fds
from proctor.errors import HostError, SandboxError
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.control_socket import INLINE, Control


def refuse(number: int) -> NoReturn:
    raise OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        *((errno.EMFILE, HostError), (errno.ENOMEM, HostError), (errno.EAGAIN, HostError)),
        (errno.ENOENT, SandboxError),
    ],
)
def test_a_keeper_that_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, all_closed: None, number: int, kind: type[Exception]
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: refuse(number))
    with pytest.raises(kind, match=f"^cannot start python: {os.strerror(number)}$"):
        Box(lambda _: ["python"])


def test_no_room_for_what_it_is_started_with(
    monkeypatch: pytest.MonkeyPatch, all_closed: None
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: refuse(errno.ENOSPC))
    with pytest.raises(HostError, match=r"^cannot start a box: No space left on device$"):
        Box(lambda _: ["python"])


def dead() -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process


def test_a_keeper_that_was_killed_is_gone_and_no_defect() -> None:
    box = Box.__new__(Box)
    box._process = dead()
    with pytest.raises(SandboxError, match=r"^the keeper of the box is gone$"):
        box.find_keeper()
    box.keeper, box.processors = box._process.pid, set()
    box.follow()
    assert box.processors == os.sched_getaffinity(0)


def test_a_long_order_that_cannot_be_sent(
    monkeypatch: pytest.MonkeyPatch, all_closed: None
) -> None:
    """Short ones still can, so what is long would look as if it broke the box."""
    ours, theirs = fork_safe_fds.socketpair(socket.SOCK_SEQPACKET)
    with ours, theirs, monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", lambda: refuse(errno.ENOSPC))
        control = Control(ours)
        control.order(blob=b"x", do="start")
        with pytest.raises(HostError, match=r"^cannot send to a box: No space left on device$"):
            control.order(blob=bytes(INLINE + 1), do="start")
        theirs.close()
        with pytest.raises(SandboxError, match=r"^the sandbox is gone"):
            control.order(do="kill")


def test_an_answer_for_which_there_is_no_descriptor(all_closed: None) -> None:
    """The system leaves it out of the message where we may have no more."""
    ours, theirs = fork_safe_fds.socketpair(socket.SOCK_SEQPACKET)
    with ours, theirs:
        theirs.send(b'{"ended":0,"attached":true}\n')
        with pytest.raises(HostError, match=r"^cannot hear from a box: Too many open files$"):
            Control(ours).answer()
