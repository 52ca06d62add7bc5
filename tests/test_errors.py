"""Errors know whose fault they are, and which exit status that is."""

import errno
import os
from pathlib import Path

import pytest

from proctor.errors import (
    BorderError,
    HostError,
    InputError,
    ProctorError,
    SandboxError,
    boundary,
)


@pytest.mark.parametrize(
    ("kind", "status"), [(InputError, 2), (SandboxError, 3), (HostError, 3), (BorderError, 3)]
)
def test_exit_status(kind: type[ProctorError], status: int) -> None:
    assert kind.exit_status == status
    assert issubclass(kind, ProctorError)


def test_boundary_names_what_was_tried_and_why_it_failed() -> None:
    said = r"^cannot read x: No such file or directory$"
    with pytest.raises(InputError, match=said) as caught, boundary(InputError, "cannot read x"):
        Path("/no/such/file").read_bytes()
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_boundary_says_what_to_do_then() -> None:
    said = r"^cannot write: Is a directory; use another$"
    with pytest.raises(HostError, match=said), boundary(HostError, "cannot write", "use another"):
        Path("/").write_bytes(b"")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENOMEM])
def test_a_host_that_gives_out_is_to_blame_itself(number: int) -> None:
    why = os.strerror(number)
    said = f"^cannot read x: {why}$"
    with pytest.raises(HostError, match=said), boundary(InputError, "cannot read x"):
        raise OSError(number, why)
    with pytest.raises(HostError, match="start"), boundary(SandboxError, "cannot start"):
        raise OSError(number, why)
    with pytest.raises(SandboxError), boundary(SandboxError, "cannot start"):
        raise OSError(errno.EPERM, "may not")


def test_boundary_has_words_for_errors_without_a_number() -> None:
    with pytest.raises(HostError, match=r"^cannot: odd$"), boundary(HostError, "cannot"):
        raise OSError("odd")


def test_boundary_lets_everything_else_through() -> None:
    with pytest.raises(ZeroDivisionError), boundary(HostError, "cannot"):
        1 / 0
    with pytest.raises(InputError, match="inner"), boundary(HostError, "cannot"):
        raise InputError("inner")
