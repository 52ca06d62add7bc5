"""Files of memory that nobody can change."""

import os

import pytest

from proctor.sandbox.sealed import Sealed, sealed


def test_nobody_can_write_to_them():
    file = sealed(b"compiled")
    assert os.pread(file, 100, 0) == b"compiled"
    with pytest.raises(PermissionError):
        os.pwrite(file, b"changed", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(file, 0)
    again = os.open(f"/proc/self/fd/{file}", os.O_RDWR)
    with pytest.raises(PermissionError):
        os.write(again, b"changed")
    os.close(again)
    os.close(file)


def test_a_file_is_made_once_and_goes_with_the_rest():
    files = Sealed()
    first = files.file("a", lambda: b"made")
    assert files.file("a", lambda: b"made again") == first
    assert os.pread(first, 100, 0) == b"made"
    assert files.file("b", lambda: b"") != first
    files.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(first)


def test_one_that_cannot_be_made_is_tried_again():
    files = Sealed()
    with pytest.raises(ZeroDivisionError):
        files.file("a", lambda: bytes(1 // 0))
    assert os.pread(files.file("a", lambda: b"made"), 100, 0) == b"made"
    files.close()
