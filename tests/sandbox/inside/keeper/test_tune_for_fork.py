"""Forks cost less with the memory of a keeper tuned, and nothing else changes."""

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import textwrap
import time
import types
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.records.execution import Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.inside.isolation import libc
from proctor.sandbox.inside.keeper import tune_for_fork
from proctor.sandbox.limits.clock import child_pids
from proctor.sandbox.supervisor import bundle
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents, inspect_interpreter
from proctor.sandbox.supervisor.sessions import run_in_session
from proctor.sandbox.tiers.kernel import kernel_box, open_kernel
from proctor.settings import TuneFork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do this")
PAGES = 64


@pytest.fixture
def ring() -> None:
    """Skip where nobody may have one."""
    try:
        os.close(libc.io_uring())
    except OSError as error:
        pytest.skip(f"no io_uring here: {error}")


def new_box(tune_fork: TuneFork = "all") -> Box:
    try:
        return kernel_box(
            BoxContents(interpreter=inspect_interpreter(sys.executable), tune_fork=tune_fork)
        )
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def box(ring: None) -> Iterator[Box]:
    box = new_box()
    yield box
    box.close()


def said(box: Box, source: str) -> str:
    ran = run_in_session(box, Program(source=source), Limits(), b"")
    assert ran.ending == Exited(0), ran.stderr
    return ran.stdout.decode().strip()


FAULTS = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"


def changed(monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, tuple[str, str]]) -> Box:
    """Return a new box in which parts of some files are others."""
    compiled = bundle._code
    changed = set()

    def code(name: str) -> types.CodeType:
        if name not in changes:
            return compiled(name)
        source = bundle._source(name)
        assert changes[name][0] in source
        changed.add(name)
        return compile(source.replace(*changes[name]), name, "exec", optimize=2)

    monkeypatch.setattr(bundle, "_code", code)
    box = new_box()
    assert changed == {*changes}
    return box


def test_guests_have_fewer_page_faults_with_pins(box: Box) -> None:
    other = new_box("pages")
    try:
        with_pins, without = (int(said(one, FAULTS)) for one in (box, other))
    finally:
        other.close()
    if os.geteuid() != 0 and with_pins > 0.9 * without:
        pytest.skip("this user has pinned all that he may")
    assert with_pins < 0.6 * without


def test_a_setting_switches_each_part_off() -> None:
    count = """
with open("/proc/self/maps") as file:
    print(len({line.split()[5] for line in file if " r--p " in line and "/lib" in line}))
"""
    libraries = {}
    for parts in ("off", "pages", "pins", "all"):
        box = new_box(parts)
        try:
            libraries[parts] = int(said(box, count))
        finally:
            box.close()
    assert libraries["pages"] == libraries["all"] < libraries["pins"] == libraries["off"]


def test_the_settings_file_reaches_the_boxes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "proctor.toml"
    file.write_text('tune_fork = "pins"\n')
    monkeypatch.setenv("PROCTOR_CONFIG", str(file))
    assert open_kernel()._contents.tune_fork == "pins"


def test_guests_have_no_ring(box: Box) -> None:
    open_files = "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in range(3, 99) if os.path.exists(f'/proc/self/fd/{n}')])"
    assert "io_uring" not in said(box, open_files)


SYSCALLS, SETUP, TUNE = "isolation.libc", "keeper.guest_setup", "keeper.tune_for_fork"
HANGS = {
    SETUP: ("module.run_sample_guest(", "signal.pause(); module.run_sample_guest("),
    TUNE: ("5000", "100"),
}


@pytest.mark.parametrize(
    "changes",
    [
        {SYSCALLS: ("425, 427", "425, 9999")},
        {TUNE: ("environment.fork()", "os.read(-1, 1)")},
        HANGS,
        {SETUP: ("module.run_sample_guest(", "os._exit(3); module.run_sample_guest(")},
        {SETUP: ("module.run_sample_guest(", "raise MemoryError; module.run_sample_guest(")},
        {SETUP: ("signal.pause()", "signal.raise_signal(signal.SIGKILL)")},
    ],
    ids=["nothing pinned", "no fork", "hangs", "exits", "raises", "is killed"],
)
def test_a_box_works_whatever_becomes_of_the_guest_that_looks_ahead(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, tuple[str, str]]
) -> None:
    begin = time.monotonic()
    box = changed(monkeypatch, changes)
    try:
        assert time.monotonic() - begin < 4
        assert said(box, "print(6 * 7)") == "42"
        assert len(child_pids(box.keeper)) == 0
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
            ranges = tune_for_fork._copied_pages(child)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reading)
            os.close(writing)
    inside = {page - first for a, b in ranges for page in range(a, b)} & {*range(PAGES)}
    assert inside == {3, 4, 5, 40}


@pytest.mark.usefixtures("ring", "all_closed")
def test_a_ring_that_pins_nothing_is_closed() -> None:
    with pytest.raises(OSError, match="io_uring_register"):
        tune_for_fork._pin([(1, 2)], None)  # where nothing is mapped


PRELUDE = """
    import ctypes, os, socket, ssl, sys
    from proctor.sandbox.inside.keeper import tune_for_fork as tune

    def code():
        known = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
        return next(one for one in tune._mappings() if one.first <= known < one.end)
"""
WORKS = """
    import decimal, json, re
    assert json.loads(json.dumps({"a": [1.5, None]})) == {"a": [1.5, None]}
    assert re.findall(r"\\d+", "a1b22") == ["1", "22"]
    assert decimal.Decimal(2) ** 50 == 2 ** 50
    pid = os.fork()
    if pid == 0:
        os._exit(sum(i * i for i in range(10)) % 256)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 285 % 256
"""


def in_new_process(text: str) -> str:
    source = "".join(map(textwrap.dedent, (PRELUDE, text, WORKS)))
    found = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


def has_huge_pages() -> bool:
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return enabled.exists() and "[never]" not in enabled.read_text()


def test_a_library_lies_in_fewer_mappings_and_all_works_as_before() -> None:
    before, after = in_new_process(
        """
        libraries = lambda: [one for one in tune._mappings() if ".so" in one.path]
        print(len(libraries()))
        tune.tune_for_fork(None, ["pages"], None)
        print(len(libraries()))
        assert not any(one.rights == "rwxp" for one in tune._mappings())
        """
    ).split()
    assert int(after) < 0.7 * int(before)


@pytest.mark.skipif(not has_huge_pages(), reason="this machine has no huge pages")
def test_the_interpreter_runs_from_huge_pages() -> None:
    path = in_new_process(
        """
        before = code()
        tune.tune_for_fork(None, ["pages"], None)
        after = code()
        assert after.rights == "r-xp"
        if (before.end - before.first) < 2 * tune.HUGE:
            print("small")
        else:
            size = after.end - after.first
            print(after.path or (tune._is_huge(after.first, size) and "huge"))
        """
    ).strip()
    assert path in ("huge", "small")


def test_the_interpreter_stays_in_its_file_without_huge_pages() -> None:
    in_new_process(
        """
        PR_SET_THP_DISABLE = 41
        assert tune.LIBC.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
        before = code().path
        tune.tune_for_fork(None, ["pages"], None)
        assert code().path == before
        """
    )


def test_unreadable_mappings_are_left_alone() -> None:
    in_new_process(
        """
        import builtins
        def refuse(*args, **more):
            raise PermissionError(13, "no")
        builtins.open, kept = refuse, open
        tune.tune_for_fork(None, ["pages"], None)
        builtins.open = kept
        """
    )
