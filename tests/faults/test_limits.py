"""A host that has no descriptors or no memory left, from the start or all of a sudden."""

import os
import resource
import signal
from pathlib import Path

import pytest

WORDS = (
    "Too many open files",
    "there is no memory left",
    "Cannot allocate memory",
    "can't start new thread",
)


def comes_through_or_says_so(work, ended) -> None:
    """See that a run came through, or that it says in one line why not, and goes on."""
    work.nothing_wrong()
    assert "Traceback" not in ended.err
    if ended.status != 0:
        assert (ended.status, ended.out) == (3, ""), ended.err
        assert any(word in ended.sentence for word in WORDS), ended.sentence
    work.goes_on()


def with_limit(work, option: str, most: int) -> None:
    work.prefix = ["sh", "-c", f'ulimit {option} {most}; exec "$@"', "sh"]
    ended = work.run()
    work.prefix = []
    comes_through_or_says_so(work, ended)


@pytest.mark.parametrize("most", [20])
def test_few_descriptors(work, most: int) -> None:
    work.write(4, 2)
    with_limit(work, "-n", most)


@pytest.mark.slow
@pytest.mark.parametrize("most", range(7, 50))
def test_any_number_of_descriptors(work, most: int) -> None:
    work.write(4, 2)
    with_limit(work, "-n", most)


@pytest.mark.slow
@pytest.mark.parametrize("mib", range(100, 700, 20))
def test_any_amount_of_memory(work, mib: int) -> None:
    work.write(4, 2)
    with_limit(work, "-v", mib << 10)


def test_no_more_descriptors(work) -> None:
    """Others of this user may open files, too: there were enough when it began."""
    work.write(seconds=0.05)
    process = work.start()
    work.wait(process, 4)
    used = len(os.listdir(f"/proc/{process.pid}/fd"))
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (max(0, used - 8), 4096))
    comes_through_or_says_so(work, work.end(process))


@pytest.mark.parametrize("more_kib", [4096, pytest.param(64, marks=pytest.mark.slow)])
def test_no_more_memory(work, more_kib: int) -> None:
    work.write(seconds=0.05)
    process = work.start()
    work.wait(process, 4)
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (more_kib << 10)
    resource.prlimit(process.pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    ended = work.end(process)
    if ended.status == -signal.SIGSEGV:  # its stack could not grow: the system ends it, as kill -9
        work.goes_on()
    else:
        comes_through_or_says_so(work, ended)
