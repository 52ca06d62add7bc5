"""What guests write to is copied when they are forked, and nothing else changes for anybody."""

import ctypes
import mmap
import os
import re
import signal
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import Exited, Limits, contents
from proctor.sandbox.box import Box
from proctor.sandbox.clock import children
from proctor.sandbox.contents import Contents, look_at
from proctor.sandbox.inside import pinned
from proctor.sandbox.kernel import kernel_box
from proctor.sandbox.sessions import run_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has an io_uring")
PAGES = 64


@pytest.fixture
def ring() -> None:
    """Skip where nobody may have one."""
    try:
        parameters = ctypes.create_string_buffer(pinned.PARAMETERS_BYTES)
        number = pinned.IO_URING_SETUP
        os.close(pinned.linux.system_call("io_uring_setup", number, 1, parameters))
    except OSError as error:
        pytest.skip(f"no io_uring here: {error}")


def new_box() -> Box:
    try:
        return kernel_box(Contents(interpreter=look_at(sys.executable)))
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def box(ring: None) -> Iterator[Box]:
    box = new_box()
    yield box
    box.close()


def said(box: Box, source: str) -> str:
    ran = run_in(box, Program(source=source), Limits(), b"")
    assert ran.ending == Exited(0), ran.stderr
    return ran.stdout.decode().strip()


def pinned_bytes(box: Box) -> int:
    status = Path(f"/proc/{box.keeper}/status").read_text()
    found = re.search(r"VmPin:\s+(\d+) kB", status)
    return 0 if found is None else 1024 * int(found[1])


def test_a_keeper_pins_what_guests_write_to_and_little_else(box: Box) -> None:
    assert 256 << 10 < pinned_bytes(box) < 4 << 20


def test_a_guest_is_stopped_less_often(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, but for boxes that do not look ahead."""
    faults = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"
    compiled = contents._code

    def code(name: str) -> types.CodeType:
        text = "def look_ahead(nest): pass\n"
        return compile(text, name, "exec") if name == "pinned" else compiled(name)

    monkeypatch.setattr(contents, "_code", code)
    other = new_box()
    try:
        assert pinned_bytes(other) == 0
        with_pins, without = (int(said(one, faults)) for one in (box, other))
    finally:
        other.close()
    assert with_pins < 0.6 * without


def test_guests_have_no_ring_and_may_lock_no_more_than_anybody(box: Box) -> None:
    open_files = "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in range(3, 99) if os.path.exists(f'/proc/self/fd/{n}')])"
    assert "io_uring" not in said(box, open_files)
    limit = "import resource; print(*resource.getrlimit(resource.RLIMIT_MEMLOCK))"
    assert all(0 <= int(one) <= 8 << 20 for one in said(box, limit).split())


@pytest.mark.parametrize(
    ("module", "was", "now"),
    [
        ("pinned", "425, 427", "9999, 9999"),
        ("pinned", "nest.fork()", "os.read(-1, 1)"),
        ("pinned", "5000", "100"),
        ("roles", "module.play(", "os._exit(3); module.play("),
        ("roles", "module.play(", "raise MemoryError; module.play("),
        ("roles", "signal.pause()", "signal.raise_signal(signal.SIGKILL)"),
    ],
    ids=["no io_uring", "no fork", "hangs", "exits", "raises", "is killed"],
)
def test_a_box_works_whatever_becomes_of_the_guest_that_looks_ahead(
    monkeypatch: pytest.MonkeyPatch, module: str, was: str, now: str
) -> None:
    changed = {module: (was, now)}
    if was == "5000":
        changed["roles"] = ("module.play(", "signal.pause(); module.play(")
    compiled = contents._code

    def code(name: str) -> types.CodeType:
        source = (contents.INSIDE / f"{name}.py").read_text()
        if name not in changed:
            return compiled(name)
        assert changed[name][0] in source
        return compile(source.replace(*changed[name]), name, "exec", optimize=2)

    monkeypatch.setattr(contents, "_code", code)
    begin = time.monotonic()
    box = new_box()
    try:
        assert time.monotonic() - begin < 4
        assert said(box, "print(6 * 7)") == "42"
        assert len(children(box.keeper)) == 0
        if was != "signal.pause()":
            assert pinned_bytes(box) == 0
    finally:
        box.close()


def test_pages_are_known_that_a_child_has_copies_of() -> None:
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE) as memory:
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1
        first = ctypes.addressof(ctypes.c_char.from_buffer(memory)) // mmap.PAGESIZE
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                for page in (3, 4, 5, 40):
                    memory[page * mmap.PAGESIZE] = 2
                os.write(writing, b".")
                signal.pause()
            finally:
                os._exit(1)
        os.read(reading, 1)
        try:
            ranges = pinned.copied(child)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reading)
            os.close(writing)
    inside = {page - first for a, b in ranges for page in range(a, b)} & {*range(PAGES)}
    assert inside == {3, 4, 5, 40}
