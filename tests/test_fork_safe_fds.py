"""Processes that the host forks keep nothing of ours open."""

import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from proctor import fork_safe_fds
from proctor.records.execution import Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.box import Box

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@contextmanager
def forked(work: Callable[[], int] = lambda: time.sleep(60) or 0) -> Iterator[int]:
    """Have a child that does something and exits with its result; it is ended here."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work())
        finally:
            os._exit(99)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def result(work: Callable[[], int]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work())
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_pipe_ends_when_we_close_it_whoever_was_forked() -> None:
    reading, writing = fork_safe_fds.pipe()
    with forked():
        os.close(writing)
        assert os.read(reading, 1) == b""
    os.close(reading)


def test_a_socket_ends_when_we_close_it_whoever_was_forked() -> None:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        ours, theirs = fork_safe_fds.socketpair(kind)
        with theirs, forked():
            ours.close()
            theirs.settimeout(30)
            assert theirs.recv(1) == b""


def test_the_number_stays_taken_in_the_child() -> None:
    """An object that closes it later must not close what has its number by then."""
    ours, theirs = fork_safe_fds.socketpair()

    def work() -> int:
        number = ours.fileno()
        other = os.open(os.devnull, os.O_RDONLY)
        ours.close()
        return 0 if other != number and os.fstat(other) else 1

    assert result(work) == 0
    ours.close()
    theirs.close()


def test_a_number_that_is_anothers_by_now_is_left_alone() -> None:
    reading, writing = fork_safe_fds.pipe()
    os.close(reading)
    os.close(writing)
    mine, yours = os.pipe()  # these have the same numbers
    assert {mine, yours} == {reading, writing}
    os.write(yours, b"x")
    assert result(lambda: os.read(mine, 1)[0]) == ord("x")
    os.close(mine)
    os.close(yours)


def test_forks_of_forks() -> None:
    def work() -> int:
        reading, writing = fork_safe_fds.pipe()
        with forked():
            os.close(writing)
            return len(os.read(reading, 1))

    assert result(work) == 0


def test_a_handler_may_fork_at_any_moment() -> None:
    with fork_safe_fds._making:
        assert result(lambda: 7) == 7


def test_forks_while_programs_read_their_input(sandbox: Sandbox) -> None:
    """A copy of our end of a pipe would keep the program waiting until its time is over."""
    program = Program(source="import sys\nprint(len(sys.stdin.read()))\n")
    endings: list[object] = []
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            ran = sandbox.run(program, Limits(), b"12345")
            endings.append((ran.ending, ran.stdout))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = []
    try:
        for _ in range(12):
            time.sleep(0.03)
            pid = os.fork()
            if pid == 0:
                time.sleep(200)
                os._exit(0)
            children.append(pid)
        end = time.monotonic() + 100
        while len(endings) < 20 and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        stop.set()
        for thread in threads:
            thread.join(100)
        hang = [thread for thread in threads if thread.is_alive()]
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    assert not hang
    assert set(endings) == {(Exited(0), b"5\n")}


def test_a_box_can_be_closed_whoever_was_forked(
    sandbox: Sandbox, warm_boxes: Callable[[Sandbox], list[Box]]
) -> None:
    sandbox.run(Program(source=""), Limits())
    if not warm_boxes(sandbox):
        pytest.skip("this tier has no warm boxes")
    with forked():
        begin = time.monotonic()
        sandbox.close()
        assert time.monotonic() - begin < 15, "the keeper did not notice and was waited for"


def test_boxes_work_where_descriptors_have_large_numbers(sandbox: Sandbox) -> None:
    """A service with many sessions has more of them than `select` can take."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2048:
        pytest.skip("this process may not have so many descriptors")
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        notebook = sandbox.notebook(Limits().with_seconds(10.0))
        assert notebook.execute("1").shown == [{"text/plain": "1"}]
        notebook.close()
    finally:
        for fd in held:
            os.close(fd)
