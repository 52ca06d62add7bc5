"""A box for commands: what they find, what stays, and that every wall of a guest is around them."""

import errno
import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cancellation import Cancelled, cancellable
from proctor.errors import SandboxError
from proctor.records.execution import (
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Signalled,
    TimedOut,
)
from proctor.records.limits import MIB, Limits
from proctor.sandbox.supervisor.workspace import Command, Workspace
from proctor.sandbox.tiers.select import open_sandbox

LIMITS = Limits(scratch_bytes=64 * MIB, memory_bytes=256 * MIB).with_seconds(20)


@pytest.fixture(scope="module")
def workspace(kernel) -> Iterator[Workspace]:
    opened = kernel.workspace(LIMITS)
    yield opened
    opened.close()


def run(workspace: Workspace, *argv: str, limits: Limits = LIMITS, **more: object) -> Execution:
    return workspace.run(Command(argv=argv, **more), limits)


def shell(workspace: Workspace, text: str, **more: object) -> str:
    done = run(workspace, "sh", "-c", text, **more)
    assert done.ending == Exited(0), done
    return done.stdout.decode()


def test_files_stay_and_processes_do_not(workspace):
    shell(workspace, "echo 1 > kept; mkdir -p a/b; sleep 100 & echo $! > pid")
    assert shell(
        workspace, "cat kept; ls -d a/b; kill -0 $(cat pid) 2> /dev/null || echo gone"
    ) == ("1\na/b\ngone\n")


def test_where_a_command_runs_and_what_it_is_given(workspace):
    assert shell(workspace, "pwd; whoami; echo $HOME") == "/tmp\ncandidate\n/tmp\n"
    run(workspace, "mkdir", "-p", "sub")
    assert shell(workspace, "pwd", folder="sub") == "/tmp/sub\n"
    assert shell(workspace, "pwd", folder="/usr/bin") == "/usr/bin\n"
    assert shell(workspace, "echo $A; cat", environment={"A": "b c"}, stdin=b"in") == "b c\nin"


def test_the_interpreter_is_on_the_path(workspace):
    import sys

    said = run(workspace, "python3", "-c", "import sys; print(sys.version)").stdout.decode()
    assert said.strip() == sys.version
    assert run(workspace, "python", "-c", "import numpy").ending == Exited(0)


def test_awk_is_found_where_debian_keeps_it(workspace):
    assert shell(workspace, "echo 1 2 | awk '{print $1 + $2}'") == "3\n"


def test_nothing_of_the_host_is_in_sight(workspace, tmp_path):
    (tmp_path / "secret").write_text("a secret")
    done = run(workspace, "sh", "-c", f"cat {tmp_path}/secret; env; ls /proc/1/fd")
    assert b"secret" not in done.stdout
    assert b"PYTEST_CURRENT_TEST" not in done.stdout
    with pytest.raises(FileNotFoundError):
        workspace.read(str(tmp_path / "secret"), 100)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("exit 7", Exited(7)),
        ("kill -TERM $$", Signalled(15)),
        ("sleep 60", TimedOut("wall")),
        ("yes | head -c 9000000", OutputTooLong()),
        ("echo > /usr/bin/new 2> /dev/null || exit 3", Exited(3)),
        ("exec 3<> /dev/tcp/127.0.0.1/80", Exited(1)),
    ],
)
def test_endings(workspace, text, ending):
    limits = LIMITS.with_seconds(1)
    assert run(workspace, "bash", "-c", text, limits=limits).ending == ending
    assert shell(workspace, "echo fine") == "fine\n"


def test_memory_is_bounded_for_all_processes_together(kernel):
    workspace = kernel.workspace(LIMITS, ["bash"])
    hungry = "import time; x = bytearray(150 << 20); time.sleep(20)"
    done = run(workspace, "sh", "-c", f"python3 -c '{hungry}' & python3 -c '{hungry}'; wait")
    assert done.ending in (OutOfMemory(), Exited(0)) or done.ending == Exited(1), done
    assert b"MemoryError" in done.stderr or done.ending == OutOfMemory()
    workspace.close()


def test_what_cannot_be_begun(workspace):
    for argv, number in (
        (["nothing-like-that"], errno.ENOENT),
        (["/etc/passwd"], errno.EACCES),
        (["/etc"], errno.EACCES),
        (["echo", "x\0y"], errno.EINVAL),
        (["echo", "\ud800"], errno.EINVAL),
    ):
        with pytest.raises(OSError) as refused:
            run(workspace, *argv)
        assert (refused.value.errno, refused.value.filename) == (number, argv[0])
    with pytest.raises(FileNotFoundError) as refused:
        run(workspace, "pwd", folder="no/such")
    assert refused.value.filename == "no/such"


def test_a_command_cannot_pretend_that_it_was_never_begun(workspace):
    done = run(workspace, "sh", "-c", "echo X2 >&2; ls -l /proc/self/fd; exit 126")
    assert done.ending == Exited(126)
    assert b" 4 ->" not in done.stdout, "no descriptor of ours is left"


def test_a_command_line_may_be_long(workspace):
    words = ["x" * 65536] * 16
    limits = Limits(output_bytes=2 * MIB).with_seconds(20)
    done = run(workspace, "printf", "%s", *words, limits=limits)
    assert done.stdout == "".join(words).encode()


def test_files_are_read_and_written_with_the_rights_of_commands(workspace):
    workspace.write("new/folder/file", b"\xc3\x28")
    assert workspace.read("new/folder/file", 2) == b"\xc3\x28"
    for path, error in (
        ("nowhere", FileNotFoundError),
        ("new/folder", IsADirectoryError),
        ("new/folder/file/below", NotADirectoryError),
    ):
        with pytest.raises(error) as refused:
            workspace.read(path, 100)
        assert refused.value.filename == path
    with pytest.raises(OSError) as refused:
        workspace.read("new/folder/file", 1)
    assert refused.value.errno == errno.EFBIG
    with pytest.raises(OSError) as refused:
        workspace.write("/usr/bin/file", b"")
    assert refused.value.errno == errno.EROFS
    shell(workspace, "echo 1 > locked; chmod 000 locked")
    with pytest.raises(PermissionError):
        workspace.read("locked", 100)
    with pytest.raises(PermissionError):
        workspace.write("locked", b"")


def test_what_is_no_file_is_not_waited_for(workspace):
    shell(workspace, "mkfifo pipe; ln -s /dev/urandom device; ln -s loop loop")
    for path, number in (("pipe", errno.EINVAL), ("device", errno.EINVAL), ("loop", errno.ELOOP)):
        with pytest.raises(OSError) as refused:
            workspace.read(path, 100)
        assert refused.value.errno == number
    with pytest.raises(OSError) as refused:
        workspace.write("pipe", b"x")
    assert refused.value.errno == errno.ENXIO


def test_files_do_not_outgrow_their_folder(workspace):
    with pytest.raises(OSError) as refused:
        workspace.write("huge", bytes(65 * MIB))
    assert refused.value.errno in (errno.ENOSPC, errno.EFBIG)
    shell(workspace, "rm huge")


@given(st.binary(max_size=5000), st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_whatever_is_written_is_read_again(workspace, content, name):
    path = "laws/" + "".join("_" if letter in "/\0" else letter for letter in name)
    if path in ("laws/.", "laws/..") or len(path.encode()) > 200:
        return
    workspace.write(path, content)
    assert workspace.read(path, len(content)) == content


def test_workspaces_share_nothing(kernel, workspace):
    workspace.write("mine", b"1")
    other = kernel.workspace(LIMITS)
    with pytest.raises(FileNotFoundError):
        other.read("mine", 1)
    other.close()


def test_who_waits_no_longer_ends_the_command(workspace):
    dropped = threading.Event()
    threading.Timer(0.5, dropped.set).start()
    begun = time.monotonic()
    with cancellable(dropped), pytest.raises(Cancelled):
        run(workspace, "sleep", "15")
    assert time.monotonic() - begun < 14
    assert shell(workspace, "echo fine") == "fine\n"


def test_closing_leaves_nothing(kernel, processes_below):
    before = processes_below(os.getpid())
    workspace = kernel.workspace(LIMITS)
    run(workspace, "sh", "-c", "sleep 100 &")
    workspace.close()
    assert processes_below(os.getpid()) <= before
    with pytest.raises(SandboxError):
        run(workspace, "true")


def test_tiers_without_other_programs_say_so():
    try:
        contained = open_sandbox("contained", os.sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    with pytest.raises(SandboxError, match="the contained tier has no commands; use kernel"):
        contained.workspace(LIMITS)
    contained.close()
