"""The contained tier: what a guest without namespaces can reach, and what it leaves.

Nothing here could harm anybody if a wall failed: signals are sent with number 0, limits are read,
and processes that are started do nothing.
"""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.records.execution import Denied, Execution, Exited
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.tiers import contained
from proctor.sandbox.tiers.pooled import PooledSandbox
from proctor.sandbox.tiers.select import open_sandbox

QUICK = Limits().with_seconds(2.0)
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def box() -> Iterator[PooledSandbox]:
    try:
        opened = open_sandbox("contained", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    assert isinstance(opened, PooledSandbox)
    yield opened
    opened.close()


def run(box: PooledSandbox, source: str, limits: Limits = QUICK) -> Execution:
    return box.run(Program(source=textwrap.dedent(source)), limits)


def refusals(box: PooledSandbox, *attempts: str) -> list[str]:
    """Try each line in a guest and return what it came to."""
    source = "import ctypes, os, resource, signal, socket, fcntl, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    source += (
        "def check(result):\n    if result < 0: raise OSError(ctypes.get_errno(), 'refused')\n"
    )
    for attempt in attempts:
        source += f"try: print('DONE', {attempt})\nexcept OSError as error: print(error.errno)\n"
    execution = run(box, source)
    assert execution.ending == Exited(0), execution
    return execution.stdout.decode().splitlines()


def test_no_file_is_in_sight_but_what_python_needs(box: PooledSandbox, tmp_path: Path) -> None:
    secret = tmp_path / "tests.jsonl"
    secret.write_text("expected")
    secret.chmod(0o644)
    package = Path(contained.__file__).parent
    paths = ["/", "/etc/passwd", "/proc", "/root", "/sys", "/home", str(secret), str(package)]
    tried = refusals(
        box,
        *(f"os.listdir({p!r}) if os.path.isdir({p!r}) else open({p!r}).read()" for p in paths),
        *(f"open({p!r}).read()" for p in ("/proc/1/cmdline", "/proc/self/root/etc/passwd")),
        "open('/dev/mem').read()",
        "open('/tmp/made', 'w')",
        f"os.truncate({str(secret)!r}, 0)",
        f"os.rename({str(secret)!r}, 'mine')",
        f"os.link({str(secret)!r}, 'mine')",
    )
    assert not [line for line in tried if line.startswith("DONE")], tried
    assert secret.read_text() == "expected"


def test_packages_beside_the_standard_library_stay_out_of_sight(box: PooledSandbox) -> None:
    source = """
        import glob, os
        for path in glob.glob(os.path.dirname(os.__file__) + "/*-packages/*/*.py")[:500]:
            try: print(len(open(path, "rb").read()))
            except OSError: pass
        import email.mime, xml.dom, sqlite3, decimal, zoneinfo
        print("imported")
    """
    assert run(box, source).stdout == b"imported\n"


def test_other_processes_are_out_of_reach(box: PooledSandbox) -> None:
    us = os.getpid()
    tried = refusals(
        box,
        *(f"os.kill({pid}, 0)" for pid in (us, 1, 0, -1, "os.getppid()")),
        f"check(libc.ptrace(16, {us}, 0, 0))",
        f"check(libc.process_vm_readv({us}, 0, 0, 0, 0, 0))",
        f"check(libc.syscall({434}, {us}, 0))",
        f"resource.prlimit({us}, resource.RLIMIT_CPU)",
        f"os.setpriority(os.PRIO_PROCESS, {us}, 19)",
        f"os.sched_setaffinity({us}, [0])",
        *(
            f"open('/proc/{us}/{name}', 'rb').read()"
            for name in ("mem", "environ", "cmdline", "maps")
        ),
        f"os.readlink('/proc/{us}/cwd')",
        f"os.listdir('/proc/{us}/fd')",
        f"fcntl.fcntl(1, fcntl.F_SETOWN, {us})",
        "fcntl.fcntl(1, fcntl.F_SETSIG, 9)",
        "check(libc.prctl(1, 0, 0, 0, 0))",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.execv('/bin/true', ['true'])",
    )
    assert not [line for line in tried if line.startswith("DONE")], tried


def test_what_a_guest_does_to_itself_is_its_own_business(box: PooledSandbox) -> None:
    source = """
        import os, signal, socket, threading, asyncio, resource, tempfile
        os.kill(os.getpid(), 0)
        signal.signal(signal.SIGUSR1, lambda *_: print("heard"))
        signal.raise_signal(signal.SIGUSR1)
        print(resource.getrlimit(resource.RLIMIT_CORE))
        thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
        async def main(): await asyncio.sleep(0); print("loop")
        asyncio.run(main())
        with tempfile.TemporaryDirectory() as folder: open(folder + "/x", "w").write("x")
        os.makedirs("a/b"); os.rename("a/b", "c"); print(sorted(os.listdir(".")))
        os.write(1, open("/dev/null", "rb").read() + open("/dev/urandom", "rb").read(0))
    """
    execution = run(box, source)
    assert execution.stdout.decode().split("\n")[:5] == [
        "heard",
        "(0, 0)",
        "thread",
        "loop",
        "['a', 'c', 'main.py']",
    ], execution


def test_there_are_no_sockets_and_no_other_users(box: PooledSandbox) -> None:
    tried = refusals(
        box,
        *(f"socket.socket({family})" for family in ("socket.AF_INET", "socket.AF_UNIX", "16")),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "socket.socketpair()[0].connect('/x')",
        "socket.socketpair()[0].bind('\\0x')",
        "os.setuid(0)",
        "os.setgid(0)",
        "os.setgroups([0])",
        "check(libc.unshare(0x10000000))",
        "check(libc.syscall(319, b'x', 0))",
        "check(libc.inotify_init1(0))",
        "os.chroot('.')",
    )
    assert not [line for line in tried if line.startswith("DONE")], tried


def test_nothing_of_a_guest_meets_the_next(box: PooledSandbox) -> None:
    leave = """
        import os
        os.makedirs("d/" * 60); os.chmod("d", 0); open("file", "w").write("x")
        os.symlink("/etc", "link"); os.mkfifo("pipe"); os.umask(0); os.chmod(".", 0)
    """
    deep = "import os\nfor _ in range(1200):\n    os.mkdir('d'); os.chdir('d')\n"
    look = "import os; print(sorted(os.listdir('.')), oct(os.stat('.').st_mode), oct(os.umask(0)))"
    first = run(box, look)
    for source in (leave, deep):
        assert run(box, source, Limits().with_seconds(20.0)).ending == Exited(0)
        assert run(box, look).stdout == first.stdout == b"['main.py'] 0o40700 0o22\n"


def test_files_together_are_watched(box: PooledSandbox) -> None:
    limits = msgspec.structs.replace(Limits().with_seconds(20.0), scratch_bytes=4 * MIB)
    many = msgspec.structs.replace(Limits().with_seconds(20.0), scratch_bytes=400 * MIB)
    source = "import time\nfor n in range(17000): open(str(n), 'wb').close()\ntime.sleep(30)"
    assert run(box, source, many).ending == Denied("more than 419430400 bytes of files")
    for source in (
        "import time\nfor n in range(8): open(str(n), 'wb').write(b'x' * (1 << 20))\ntime.sleep(30)",
        "import os, time\nfiles = [open(str(n), 'wb') for n in range(8)]\n[os.unlink(str(n)) for n in range(8)]\n[file.write(b'x' * (1 << 20)) for file in files]\ntime.sleep(30)",
        "import time\nfor n in range(2000): open(str(n), 'wb')\ntime.sleep(30)",
    ):
        assert run(box, source, limits).ending == Denied("more than 4194304 bytes of files")


def test_examiners_and_candidates_are_different_users(box: PooledSandbox) -> None:
    if not contained.find_means(box._contents.interpreter).own_user:
        pytest.skip("only root can have users of its own")
    seen = {run(box, "import os; print(os.getuid(), os.getgid(), os.getgroups())").stdout}
    other = box._boxes("examiner", loopback=False).take()
    mine = box._boxes(loopback=False).take()
    try:
        for keeper in (other.keeper, mine.keeper):
            status = Path(f"/proc/{keeper}/status").read_text()
            seen.add(status.split("Uid:")[1].split()[1])
            assert status.split("Uid:")[1].split()[0] == "0"
        assert len(seen) == 3
    finally:
        box._boxes("examiner", loopback=False).give_back(other)
        box._boxes(loopback=False).give_back(mine)


ELSEWHERE = """
import os, struct, sys
from proctor.records.program import Program
from proctor.records.limits import Limits
from proctor.sandbox.limits import seccomp
from proctor.sandbox.tiers.select import open_sandbox
from proctor.sandbox.inside.isolation import landlock, libc
who, tier, python, source = sys.argv[1:5]
sys.executable = python
if "no-namespaces" in sys.argv:  # as in a container with Docker's own filter
    call = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
    libc.Filter(b"".join(struct.pack("HBBI", *step) for step in steps)).install()
if "no-landlock" in sys.argv:
    landlock.abi = lambda: 0
source = Program(source=open(source).read())
if who != "root":
    os.setgroups([]); os.setresgid(12345, 12345, 12345); os.setresuid(12345, 12345, 12345)
try:
    sandbox = open_sandbox(tier, python, packages=())
except Exception as error:
    raise SystemExit(f"{type(error).__name__}: {error}")
enforcement = sandbox.enforcement()
print(enforcement.tier, enforcement.isolated, enforcement.walls["other processes"])
print(sandbox.run(source, Limits()).stdout.decode(), end="")
sandbox.close()
"""
WHO = "import os; print(os.getuid())\ntry: os.kill(os.getppid(), 0)\nexcept OSError as e: print(e.errno)\n"
CAPABILITIES = "print(open('/proc/self/status').read().split('CapPrm:')[1].split()[0])\n"


def elsewhere(tmp_path: Path, source: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a sandbox that another process opens: `args` say as whom, and which."""
    if os.geteuid() != 0 or not Path(SYSTEM_PYTHON).exists():
        pytest.skip("only root can become somebody else, with a Python that anybody can use")
    folder = tmp_path / "scratch"
    folder.mkdir(mode=0o777)
    for place in (folder, *list(folder.parents)[:4]):
        place.chmod(place.stat().st_mode | 0o077)
    (tmp_path / "source.py").write_text(source)
    who, tier, *more = args
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, who, tier, SYSTEM_PYTHON, tmp_path / "source.py", *more],
        capture_output=True,
        text=True,
        env={"TMPDIR": str(folder)},
        check=False,
        timeout=60,
    )
    assert not list(folder.iterdir())
    return ran


@pytest.mark.slow
def test_root_with_an_open_interpreter_leaves_its_guests_no_capability(tmp_path: Path) -> None:
    said = elsewhere(tmp_path, WHO + CAPABILITIES, "root", "contained").stdout.splitlines()
    assert said[0].startswith("contained True a user id of its own, seccomp")
    assert 40000 <= int(said[1]) < 60000
    assert said[2:] == ["1", "0" * 16]


def test_an_ordinary_user_relies_on_the_filter_and_landlock(tmp_path: Path) -> None:
    own = "try: os.chmod('main.py', 0o600)\nexcept OSError as e: print(e.errno)\n"
    ran = elsewhere(tmp_path, WHO + CAPABILITIES + own, "somebody", "contained")
    assert ran.stdout.splitlines()[1:] == ["12345", "1", "0" * 16, "1"], ran
    assert ran.stdout.startswith("contained True seccomp")


@pytest.mark.slow
@pytest.mark.parametrize("who", ["root", "somebody"])
def test_auto_is_contained_where_no_namespaces_can_be_made(tmp_path: Path, who: str) -> None:
    refused = elsewhere(tmp_path, WHO, who, "kernel", "no-namespaces")
    assert "unshare: Operation not permitted" in refused.stderr
    (tmp_path / "scratch").rmdir()
    assert elsewhere(tmp_path, WHO, who, "auto", "no-namespaces").stdout.startswith("contained ")


def test_without_landlock_it_says_that_files_are_in_sight(tmp_path: Path) -> None:
    ran = elsewhere(tmp_path, WHO, "root", "contained", "no-landlock")
    assert ran.stdout.startswith("contained False a user id of its own, seccomp\n")
    (tmp_path / "scratch").rmdir()
    ran = elsewhere(tmp_path, WHO, "root", "auto", "no-landlock", "no-namespaces")
    assert "no sandbox that isolates works here" in ran.stderr
    (tmp_path / "scratch").rmdir()
    ran = elsewhere(tmp_path, WHO, "somebody", "contained", "no-landlock")
    assert "needs root with an interpreter that every user can read, or Landlock 3" in ran.stderr
