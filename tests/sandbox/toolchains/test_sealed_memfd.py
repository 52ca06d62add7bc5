"""Files of memory that nobody can change."""

import os

import pytest

from proctor.sandbox.toolchains.sealed_memfd import SealedFile, seal_file


def test_nobody_can_write_to_them():
    file = seal_file(b"compiled")
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


def test_a_file_is_made_once_and_each_has_a_descriptor_of_his_own():
    files = SealedFile()
    first, second = files.file("a", lambda: b"made"), files.file("a", lambda: b"made again")
    other = files.file("b", lambda: b"other")
    files.close()
    assert [os.pread(fd, 100, 0) for fd in (first, second, other)] == [b"made", b"made", b"other"]
    assert len({first, second, other}) == 3
    for fd in (first, second, other):
        os.close(fd)


def test_one_that_cannot_be_made_is_tried_again():
    files = SealedFile()
    with pytest.raises(ZeroDivisionError):
        files.file("a", lambda: bytes(1 // 0))
    file = files.file("a", lambda: b"made")
    assert os.pread(file, 100, 0) == b"made"
    os.close(file)
    files.close()
