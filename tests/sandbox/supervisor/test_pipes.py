"""Both ends of all that lies between a guest and its supervisor, or none."""

import errno
import os
from typing import NoReturn

import pytest

from proctor import fork_safe_fds
from proctor.sandbox.supervisor.pipes import GuestPipes


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("fed", [False, True])
def test_what_is_given_reaches_us(all_closed: None, border: bool, fed: bool) -> None:
    with GuestPipes(border=border, fed=fed) as ends:
        assert len(ends.given) == 3 + border
        for number, fd in enumerate(ends.given[1:3]):
            os.write(fd, b"%d" % number)
        if ends.feed is not None:
            os.write(ends.feed, b"in")
            assert os.read(ends.given[0], 9) == b"in"
    assert (ends.feed is not None, ends.border is not None) == (fed, border)
    for number, fd in enumerate(ends.outputs):
        assert os.read(fd, 9) == b"%d" % number
        assert os.read(fd, 9) == b"", "the guest's ends are closed here"
        os.close(fd)
    if ends.feed is not None:
        os.close(ends.feed)
    if ends.border is not None:
        ends.border.close()


def test_nothing_is_left_of_a_guest_that_does_not_start(all_closed: None) -> None:
    with pytest.raises(ZeroDivisionError), GuestPipes(border=True, fed=True):
        raise ZeroDivisionError


@pytest.mark.parametrize("enough", [0, 1, 2])
def test_nothing_is_left_where_one_cannot_be_made(
    all_closed: None, monkeypatch: pytest.MonkeyPatch, enough: int
) -> None:
    """A service that has no descriptors left for a moment must not lose more of them."""
    real, made = fork_safe_fds.pipe, []

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    def pipe() -> tuple[int, int]:
        if len(made) == enough:
            refuse()
        made.append(real())
        return made[-1]

    monkeypatch.setattr(fork_safe_fds, "pipe", pipe)
    monkeypatch.setattr(fork_safe_fds, "socketpair", refuse)
    for fed in (True, False):
        made.clear()
        with pytest.raises(OSError, match="Too many"):
            GuestPipes(border=True, fed=fed)
