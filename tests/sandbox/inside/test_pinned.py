"""What guests write to is copied when they are forked, and nothing else changes for anybody."""

import ctypes
import mmap
import os
import signal
import sys
import time
import types
from collections.abc import Iterator

import pytest

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import Exited, Limits, contents
from proctor.sandbox.box import Box
from proctor.sandbox.clock import children
from proctor.sandbox.contents import Contents, look_at
from proctor.sandbox.inside import linux, pinned
from proctor.sandbox.kernel import kernel_box
from proctor.sandbox.sessions import run_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has an io_uring")
PAGES = 64


@pytest.fixture
def ring() -> None:
    """Skip where nobody may have one."""
    try:
        os.close(linux.io_uring())
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


FAULTS = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"


def changed(monkeypatch: pytest.MonkeyPatch, **changes: tuple[str, str]) -> Box:
    """Return a new box in which parts of some files are others."""
    compiled = contents._code

    def code(name: str) -> types.CodeType:
        if name not in changes:
            return compiled(name)
        source = (contents.INSIDE / f"{name}.py").read_text()
        assert changes[name][0] in source
        return compile(source.replace(*changes[name]), name, "exec", optimize=2)

    monkeypatch.setattr(contents, "_code", code)
    return new_box()


def test_a_guest_is_stopped_less_often(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, but for boxes that do not look ahead."""
    other = changed(monkeypatch, namespaces=("look_ahead(self, self._ring)", "pass"))
    try:
        with_pins, without = (int(said(one, FAULTS)) for one in (box, other))
    finally:
        other.close()
    if os.geteuid() != 0 and with_pins > 0.9 * without:
        pytest.skip("this user has pinned all that he may")
    assert with_pins < 0.6 * without


def test_guests_have_no_ring(box: Box) -> None:
    open_files = "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in range(3, 99) if os.path.exists(f'/proc/self/fd/{n}')])"
    assert "io_uring" not in said(box, open_files)


HANGS = {"roles": ("module.play(", "signal.pause(); module.play("), "pinned": ("5000", "100")}


@pytest.mark.parametrize(
    "changes",
    [
        {"linux": ("425, 427", "425, 9999")},
        {"pinned": ("nest.fork()", "os.read(-1, 1)")},
        HANGS,
        {"roles": ("module.play(", "os._exit(3); module.play(")},
        {"roles": ("module.play(", "raise MemoryError; module.play(")},
        {"roles": ("signal.pause()", "signal.raise_signal(signal.SIGKILL)")},
    ],
    ids=["nothing pinned", "no fork", "hangs", "exits", "raises", "is killed"],
)
def test_a_box_works_whatever_becomes_of_the_guest_that_looks_ahead(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, tuple[str, str]]
) -> None:
    begin = time.monotonic()
    box = changed(monkeypatch, **changes)
    try:
        assert time.monotonic() - begin < 4
        assert said(box, "print(6 * 7)") == "42"
        assert len(children(box.keeper)) == 0
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


@pytest.mark.usefixtures("ring", "all_closed")
def test_a_ring_that_pins_nothing_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "copied", lambda _child: [(1, 2)])  # where nothing is mapped
    with pytest.raises(OSError, match="io_uring_register"):
        pinned.pin(0, None)
