"""A cgroup bounds what a whole box takes, its own counter says so, and nothing of it stays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, count, repeat
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.judge.judge import Judge
from proctor.records.execution import (
    Ending,
    Exited,
    OutOfMemory,
    SandboxFailed,
    Signalled,
    TimedOut,
)
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, Task
from proctor.records.verdict import Bucket
from proctor.sandbox.limits import cgroup
from proctor.sandbox.limits.cgroup import (
    LEAF,
    Cgroup,
    CgroupRoot,
    Hierarchy,
    find_cgroup_root,
    locate,
    memory_left,
)
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.tiers import kernel
from proctor.sandbox.tiers.pooled import PooledSandbox
from proctor.sandbox.tiers.portable import Portable

LIMITS = Limits(cpu_seconds=20, wall_seconds=20, memory_bytes=96 * MIB, scratch_bytes=MIB)
FINE = "print('fine')\n"
VICTIMS = 60
"""How often the kernel chooses one of a box's processes before it must have been the keeper."""


@pytest.fixture(scope="module")
def ground() -> CgroupRoot:
    try:
        return find_cgroup_root()
    except SandboxError as error:
        pytest.skip(f"this host lets us use no cgroup: {error}")


@pytest.fixture(scope="module")
def opened(ground: CgroupRoot) -> Iterator[PooledSandbox]:
    try:
        sandbox = kernel.open_kernel()
        sandbox.enforcement()
    except SandboxError as error:
        pytest.skip(str(error))
    yield sandbox
    sandbox.close()


@pytest.fixture
def blind(opened: PooledSandbox, monkeypatch: pytest.MonkeyPatch) -> PooledSandbox:
    """Have nobody watch what guests take: the cgroup is alone with them."""
    monkeypatch.setattr(Box, "look", lambda _: None)
    return opened


def ending(sandbox: PooledSandbox, source: str, limits: Limits = LIMITS) -> Ending:
    return sandbox.run(Program(source=source), limits).ending


FORKS = """
import os, socket, sys, time
def forks(times, work):
    for _ in range(times):
        if os.fork() == 0:
            kept = work()
            time.sleep(60)
"""
MANY_PROCESSES = FORKS + "forks(16, lambda: bytearray(48 << 20))\ntime.sleep(60)\n"
SOCKETS = """
def fill():
    kept = []
    try:
        while True:
            kept.append(socket.socketpair())
            for end in kept[-1]:
                end.setblocking(False)
                try:
                    while True:
                        end.send(bytes(1 << 16))
                except BlockingIOError:
                    pass
    except OSError:
        time.sleep(60)  # no more descriptors
"""
KERNEL_MEMORY = FORKS + SOCKETS + "forks(24, fill)\ntime.sleep(60)\n"
GOES_ON = (
    FORKS
    + """
for _ in range(16):  # whatever becomes of them
    reading, writing = os.pipe()
    forks(1, lambda: (bytearray(48 << 20), os.write(writing, b"!")))
    os.close(writing)
    if not os.read(reading, 1):
        break
print("here is my answer", flush=True)
"""
)


@pytest.mark.parametrize(
    "source", [MANY_PROCESSES, KERNEL_MEMORY, GOES_ON], ids=["processes", "sockets", "goes on"]
)
def test_what_is_too_much_together_ends_and_the_keeper_serves_the_next(
    blind: PooledSandbox, warm_boxes: Callable[..., list[Box]], source: str
) -> None:
    keepers = [box.keeper for box in warm_boxes(blind)]
    assert ending(blind, source) == OutOfMemory()
    for _ in range(3):
        assert ending(blind, FINE) == Exited(0), "the next one is not blamed"
    assert [box.keeper for box in warm_boxes(blind)] == keepers


@pytest.mark.usefixtures("blind")
def test_it_is_the_bucket_memory(opened: PooledSandbox) -> None:
    task = Task(
        task_id="t", entry_point="f", tests=Assertions(targets=["f(1) == 2"]), limits=LIMITS
    )
    judge = Judge(opened)
    bad = FORKS + "def f(x):\n    forks(16, lambda: bytearray(48 << 20))\n    time.sleep(60)\n"
    for _ in range(2):
        assert judge.judge(task, Program(source=bad)).verdict.bucket == "memory"
        good = judge.judge(task, Program(source="def f(x):\n    return x + 1\n"))
        assert (good.verdict.bucket, good.attempts) == ("passed", 1)


def test_another_end_is_no_want_of_memory(blind: PooledSandbox) -> None:
    assert ending(blind, "import os\nos.kill(os.getpid(), 9)\n") == Signalled(signal.SIGKILL)
    assert ending(blind, "import os\nos.abort()\n") == Signalled(signal.SIGABRT)
    slow = "while True: pass\n"
    assert ending(blind, slow, LIMITS.with_seconds(0.3)) == TimedOut("wall")


def test_who_takes_all_that_it_may_is_left_alone(blind: PooledSandbox) -> None:
    source = (
        "block = bytearray(64 << 20)\n"
        "for number in range(240):\n"
        "    with open(str(number), 'wb') as file: file.write(block[:1 << 20])\n"
        "print(len(block))\n"
    )
    limits = Limits(memory_bytes=96 * MIB, scratch_bytes=256 * MIB)
    assert ending(blind, source, limits) == Exited(0)


def test_a_guest_cannot_put_its_keeper_before_itself(blind: PooledSandbox) -> None:
    source = (
        "def put(text):\n"
        "    try:\n"
        "        with open('/proc/self/oom_score_adj', 'w') as file: file.write(text)\n"
        "        return 'done'\n"
        "    except OSError as error: return error.strerror\n"
        "print(open('/proc/self/oom_score_adj').read().strip(), put('0'), put('-1000'))\n"
    )
    said = blind.run(Program(source=source), LIMITS).stdout.decode()
    assert said == "1000 Read-only file system Read-only file system\n"


def test_a_keeper_that_is_hit_all_the_same_is_the_guests_doing(
    blind: PooledSandbox, warm_boxes: Callable[..., list[Box]]
) -> None:
    ending(blind, FINE)
    (box,) = warm_boxes(blind)
    try:
        Path(f"/proc/{box.keeper}/oom_score_adj").write_text("1000")
    except PermissionError:
        pytest.skip("only root can make a keeper as good a victim as its guests")
    for _ in range(VICTIMS):  # one as good as the others, so it may be any of them
        assert ending(blind, KERNEL_MEMORY) == OutOfMemory()
        if not box.alive():
            break
    else:
        pytest.fail("it was never hit")
    assert ending(blind, FINE) == Exited(0)


def test_a_cgroup_that_somebody_took_away_is_our_trouble(ground: CgroupRoot) -> None:
    group = Cgroup(ground)
    group._folder.rmdir()
    assert isinstance(group.memory_ending(), SandboxFailed)
    group.close()


def test_what_the_host_does_for_want_of_memory_is_our_trouble(ground: CgroupRoot) -> None:
    group = Cgroup(ground)
    try:
        group.allow(100 * MIB)
        group._seen = (0, -1)  # one more was ended than the limit was reached
        assert group.memory_ending() == SandboxFailed("the host ran out of memory and ended it")
        assert group.memory_ending() is None
    finally:
        group.close()


def test_the_limit_is_written_only_when_it_changes(
    opened: PooledSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = cgroup._write

    def note(path: Path, text: str) -> None:
        written.append(path.name)
        write(path, text)

    ending(opened, FINE)
    monkeypatch.setattr(cgroup, "_write", note)
    reads: list[int] = []
    monkeypatch.setattr(Cgroup, "_counts", lambda _: reads.append(1) or (0, 0))
    for _ in range(5):
        assert ending(opened, FINE) == Exited(0)
    assert (written, reads) == ([], []), "a candidate costs nothing"
    ending(opened, FINE, Limits())
    assert written
    assert all("limit" in name or "max" in name for name in written)


def test_a_box_may_take_what_its_guest_may_and_what_its_keeper_needs() -> None:
    limits = Limits(memory_bytes=GIB, scratch_bytes=100 * MIB)
    usual = memory_left(limits, 0, 70_000)
    assert usual >= GIB + 100 * MIB + cgroup.KEEPER_BYTES
    assert memory_left(limits, 0, 1000) == usual, "small messages change nothing"
    assert memory_left(limits, 0, 300 * MIB) == usual + 300 * MIB
    assert memory_left(limits, GIB, 0) == usual + GIB - 100 * MIB


def test_the_walls_say_which_it_is(opened: PooledSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cgroup, all together" in opened.enforcement().walls["memory_bytes"]

    def nowhere() -> CgroupRoot:
        raise SandboxError("no cgroup that counts memory is in sight")

    monkeypatch.setattr(kernel, "find_cgroup_root", nowhere)
    other = kernel.open_kernel()
    try:
        assert "watched, all together" in other.enforcement().walls["memory_bytes"]
        assert ending(other, MANY_PROCESSES) == OutOfMemory()
        assert ending(other, FINE) == Exited(0)
    finally:
        other.close()


def folders(boxes: list[Box]) -> list[Path]:
    return [box._group._folder for box in boxes if box._group is not None]


def test_a_closed_box_leaves_no_cgroup(
    ground: CgroupRoot, warm_boxes: Callable[..., list[Box]]
) -> None:
    sandbox = kernel.open_kernel()
    assert ending(sandbox, FINE) == Exited(0)
    session = sandbox.session(LIMITS)
    session.exec(Program(source=FINE))
    made = folders([*warm_boxes(sandbox), session._box])
    assert len(made) == 2
    assert all(folder.parent == ground.folder and folder.exists() for folder in made)
    session.close()
    sandbox.close()
    assert not any(folder.exists() for folder in made)


OPENS = """
import sys, time
from proctor.records.limits import Limits
from proctor.sandbox.tiers import kernel
from proctor.records.program import Program
sandbox = kernel.open_kernel()
sandbox.run(Program(source="print(1)"), Limits())
(box,) = (box for pool in sandbox._pools.values() for box in pool._idle)
print(box._group._folder, flush=True)
time.sleep(60)
"""


def test_what_stays_when_all_of_us_are_killed_goes_with_the_next(
    ground: CgroupRoot, opened: PooledSandbox, warm_boxes: Callable[..., list[Box]]
) -> None:
    ending(opened, FINE)
    command = [sys.executable, "-c", OPENS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        cgroup._sweep(ground)
        assert theirs.exists(), "what somebody has is left alone"
        process.kill()
    deadline = time.monotonic() + 20
    while theirs.exists() and time.monotonic() < deadline:
        time.sleep(0.05)  # its keeper is about to go
        cgroup._sweep(ground)
    assert not theirs.exists()
    assert all(folder.exists() for folder in folders(warm_boxes(opened)))


def test_nobody_takes_a_folder_that_has_just_been_made(
    ground: CgroupRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens: list[object] = []
    real = os.open

    def meddling(path: object, *args: int) -> int:
        if str(path).endswith(cgroup.COUNTER[ground.version]):
            opens.append(path)
            if len(opens) == 1:
                monkeypatch.setattr(os, "open", real)
                cgroup._sweep(ground)
                monkeypatch.setattr(os, "open", meddling)
        return real(path, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", meddling)
    group = Cgroup(ground)
    monkeypatch.undo()
    assert len(opens) == 2, "the first was swept away, the second is held"
    cgroup._sweep(ground)
    assert group._folder.exists()
    group.close()
    assert not group._folder.exists()


SELF_V2 = ["0::/user.slice/user-1000.slice/session-3.scope"]
MOUNTS_V2 = [
    "22 28 0:21 / /proc rw,nosuid shared:5 - proc proc rw",
    "35 23 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate",
]
SELF_V1 = [
    "4:cpu,cpuacct:/docker/1f",
    "3:memory:/docker/1f",
    "1:name=systemd:/docker/1f",
    "0::/docker/1f",
]
MOUNTS_V1 = [
    "30 23 0:26 /docker/1f /sys/fs/cgroup/systemd ro - cgroup cgroup rw,xattr,name=systemd",
    "33 23 0:29 /docker/1f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct",
    "34 23 0:30 /docker/1f /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory",
    "35 23 0:31 / /sys/fs/cgroup/unified ro,nosuid - cgroup2 cgroup rw",
]


def test_where_we_are_is_found_in_all_kinds_of_hosts() -> None:
    top = Path("/sys/fs/cgroup")
    scope = top / "user.slice/user-1000.slice/session-3.scope"
    found = locate("memory", SELF_V2, MOUNTS_V2)
    assert found == Hierarchy(top, scope, 2)
    assert found.visible == [scope, scope.parent, scope.parent.parent, top]
    assert locate("memory", SELF_V1, MOUNTS_V1) == Hierarchy(top / "memory", top / "memory", 1)
    cpu = locate("cpu", SELF_V1, MOUNTS_V1)
    assert cpu == Hierarchy(top / "cpu,cpuacct", top / "cpu,cpuacct", 1)
    assert cpu.visible == [cpu.own]


def test_where_we_are_may_be_out_of_sight() -> None:
    assert locate("memory", [], []) is None
    assert locate("memory", SELF_V2, MOUNTS_V2[:1]) is None
    inside = [MOUNTS_V2[1].replace(" / ", " /machine.slice ", 1)]
    assert locate("memory", SELF_V2, inside) is None, "only another part is mounted"
    outside = [MOUNTS_V2[1].replace(" / ", " /.. ", 1)]
    assert locate("memory", ["0::/"], outside) is None, "a namespace hides the way"


def fake(folder: Path, controllers: str, subtree: str = "") -> Path:
    (folder / "cgroup.controllers").write_text(controllers)
    (folder / "cgroup.subtree_control").write_text(subtree)
    (folder / "cgroup.procs").write_text("1\n2\n")
    return folder


def test_nothing_is_moved_in_a_cgroup_that_is_not_ours(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not given the memory controller"):
        cgroup._make_room(fake(tmp_path, "cpu pids"), contained=True)
    with pytest.raises(SandboxError, match="not delegated"):
        cgroup._make_room(fake(tmp_path, "cpu memory"), contained=False)
    cgroup._make_room(fake(tmp_path, "cpu memory", "memory pids"), contained=False)
    assert not (tmp_path / LEAF).exists()


def test_systemd_marks_what_it_delegates(tmp_path: Path) -> None:
    fake(tmp_path, "cpu memory")
    try:
        os.setxattr(tmp_path, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"no marks on this file system: {error}")
    cgroup._make_room(tmp_path, contained=False)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"


# Where there is no cgroup of ours


KILLS_ITSELF = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"


def test_the_host_says_when_it_ended_somebody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "VMSTAT", str(tmp_path / "vmstat"))
    assert cgroup.HostMemory().memory_ending_after(-signal.SIGKILL) is None, "it does not say"
    (tmp_path / "vmstat").write_text("nr_free_pages 7\noom_kill 3\n")
    host = cgroup.HostMemory()
    assert host.memory_ending_after(-signal.SIGKILL) is None
    (tmp_path / "vmstat").write_text("nr_free_pages 7\noom_kill 4\n")
    assert host.memory_ending_after(-signal.SIGSEGV) is None
    assert host.memory_ending_after(0) is None
    assert host.memory_ending_after(-signal.SIGKILL) == SandboxFailed(cgroup.OUT_OF_MEMORY)
    assert host.memory_ending_after(-signal.SIGKILL) is None, "that was another one"


def test_who_the_host_ended_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a pod is not the candidate's; but who ends itself every time has crashed."""
    portable, ended = Portable(), count()
    monkeypatch.setattr(cgroup, "_ended_on_host", lambda: next(ended))
    program = Program(source=KILLS_ITSELF)
    assert portable.run(program, LIMITS).ending == SandboxFailed(cgroup.OUT_OF_MEMORY)
    monkeypatch.setattr(cgroup, "_ended_on_host", lambda: 0)
    assert portable.run(program, LIMITS).ending == Signalled(signal.SIGKILL)
    few = chain([0, 1], repeat(1))
    monkeypatch.setattr(cgroup, "_ended_on_host", lambda: next(few))
    task = Task(task_id="t", entry_point="f", tests=Assertions(targets=["f(1) == 1"]))
    judged = Judge(portable).judge(task, program)
    assert (judged.verdict.bucket, judged.attempts) == (Bucket.CRASH, 2)
    assert judged.verdict.detail == "ended by SIGKILL"
