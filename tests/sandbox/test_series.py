"""Runs that fork from one walled-in process: as fresh as if each had walls of its own."""

import os
import signal
import time
import zlib
from collections.abc import Sequence

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.program import Program
from proctor.sandbox import (
    MIB,
    Execution,
    Exited,
    Limits,
    OutOfMemory,
    OutputTooLong,
    Sandbox,
    Signalled,
    TimedOut,
)
from proctor.sandbox.clock import children
from proctor.sandbox.series import MOST, BoxSeries

QUICK = Limits().with_seconds(1.5)
pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.parametrize("sandbox", ["kernel"], indirect=True),
]


def runs_of(sandbox: Sandbox, source: str, limits: Limits = QUICK) -> BoxSeries:
    runs = sandbox.repeat(Program(source=source), limits, times=9)
    assert isinstance(runs, BoxSeries)
    return runs


def run_all(
    sandbox: Sandbox, source: str, inputs: Sequence[bytes], limits: Limits = QUICK
) -> tuple[list[Execution], int]:
    """Run a program with some inputs; say how often walls were put up, too."""
    runs = runs_of(sandbox, source, limits)
    try:
        return [runs.run(given, 1 * MIB) for given in inputs], runs._walls
    finally:
        runs.close()


def outputs(executions: Sequence[Execution]) -> list[bytes]:
    assert {execution.ending for execution in executions} == {Exited(0)}
    return [execution.stdout for execution in executions]


def test_walls_are_put_up_once(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "print(int(input()) * 2, os.getpid(), os.listdir('.'), open('main.py').read()[:9])\n"
    )
    executions, walls = run_all(sandbox, source, [b"1", b"2", b"3"])
    left = b"['main.py'] import os\n"
    assert outputs(executions) == [b"2 2 " + left, b"4 3 " + left, b"6 4 " + left]
    assert walls == 1
    assert all(0 < execution.usage.cpu_seconds < 0.5 for execution in executions)
    assert all(execution.usage.memory_bytes > 5 * MIB for execution in executions)
    assert all(execution.compiled for execution in executions)


def test_nothing_is_kept_in_memory_from_run_to_run(sandbox: Sandbox) -> None:
    source = (
        "import builtins, json, os, sys\n"
        "print(hasattr(builtins, 'seen'), hasattr(json, 'seen'), 'SEEN' in os.environ, os.getcwd())\n"
        "builtins.seen = json.seen = os.environ['SEEN'] = 'seen'\n"
        "os.umask(0); os.chdir('/'); sys.stdout.flush(); os.close(0); os.set_blocking(1, False)\n"
    )
    executions, walls = run_all(sandbox, source, [b""] * 3)
    assert outputs(executions) == [b"False False False /tmp\n"] * 3
    assert walls == 1


TRACES = {
    "a file": "open('left', 'w').write('x')",
    "a file elsewhere in it": "os.makedirs('a/b'); open('a/b/left', 'w')",
    "its own text": "open('main.py', 'a').write('#')",
    "no text": "os.remove('main.py')",
    "another text": "os.rename('main.py', 'x'); open('main.py', 'w').write('print(1)')",
    "a folder that nobody may read": "os.chmod('.', 0)",
    "a mode": "os.chmod('main.py', 0o777)",
    "a link": "os.link('main.py', 'left')",
    "an attribute": "os.setxattr('main.py', 'user.left', b'x')",
}


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_a_trace_in_the_scratch_folder_is_gone_in_the_next_run(
    sandbox: Sandbox, trace: str
) -> None:
    source = (
        "import os\n"
        "print(os.listdir('.'), open('main.py').read().count('\\n'), oct(os.stat('.').st_mode),\n"
        "      oct(os.stat('main.py').st_mode), os.listxattr('main.py'))\n"
        f"try: {trace}\n"
        "except OSError as error: print(error)\n"
    )
    executions, walls = run_all(sandbox, source, [b""] * (MOST + 2))
    said = outputs(executions)
    assert set(said) == {said[0]}
    assert said[0].startswith(b"['main.py'] 5 0o40700 0o100644 []\n")
    assert walls == (1 if b"Operation not supported" in said[0] else MOST)


IN_FLIGHT = """
def send(sender, *fds, to=None):
    sender.sendmsg(
        [b"x"],
        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))],
        *(() if to is None else (0, to)),
    )
def keep(*fds):
    a, b = socket.socketpair()
    send(a, a.fileno(), b.fileno(), *fds)
    send(b, a.fileno(), b.fileno())
"""
"""Descriptors that wait to be received from sockets, which wait for the same."""

CHANNELS = {
    "text written by way of memory": """
with open("main.py", "r+b") as file, mmap.mmap(file.fileno(), 0) as text:
    print(text[-6:-1], text[0])
    text[-6:-1] = b"#left"
""",
    "the rest of a page": """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
with open("main.py", "r+b") as file:
    page = (ctypes.c_char * 4096).from_address(libc.mmap(None, 4096, 3, 1, file.fileno(), 0))
print(page[4000:4004])
page[4000:4004] = b"left"
""",
    "when its text was read": """
seen = os.stat("main.py")
print(seen.st_atime_ns <= seen.st_mtime_ns)
open("main.py").read()
""",
    "limits": """
for which in set(range(16)) - {resource.RLIMIT_NPROC}:  # the first process counts for that one
    print(which, resource.getrlimit(which))
    soft, hard = resource.prlimit(1, which)
    resource.prlimit(1, which, (soft // 2 if soft > 1000 else soft, hard))
libc = ctypes.CDLL(None)
libc.prlimit(1, 10, (ctypes.c_ulong * 2)(1000, 2**64 - 1), None)
""",
    "too few descriptors": """
print(resource.getrlimit(resource.RLIMIT_NOFILE))
resource.prlimit(1, resource.RLIMIT_NOFILE, (6, 256))
""",
    "a priority": """
print(os.getpriority(os.PRIO_PROCESS, 0))
with contextlib.suppress(PermissionError):  # who is alone may not
    os.setpriority(os.PRIO_PROCESS, 1, 5)
""",
    "a policy": """
print(os.sched_getscheduler(0))
with contextlib.suppress(PermissionError):  # who is alone may not
    os.sched_setscheduler(1, os.SCHED_BATCH, os.sched_param(0))
""",
    "a slice of time": """
libc = ctypes.CDLL(None)
how = (ctypes.c_uint32 * 14)(56)
number = {"x86_64": 314, "aarch64": 274}[os.uname().machine]
libc.syscall(number + 1, 0, how, 56, 0)
print(list(how))
how[6] += 1_000_000
libc.syscall(number, 1, how, 0)
""",
    "a priority at disks": """
libc = ctypes.CDLL(None)
number = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
print(libc.syscall(number + 1, 1, 0))
libc.syscall(number, 1, 1, 2 << 13 | 5)
""",
    "processors": """
print(os.sched_getaffinity(0))
with contextlib.suppress(PermissionError):  # who is alone may not
    os.sched_setaffinity(1, {min(os.sched_getaffinity(0))})
""",
    "a name of a socket": """
print([line.split()[-1] for line in open("/proc/net/unix") if "@" in line])
kept, other = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
kept.bind("\\0left")
send(other, kept.fileno(), to=kept.getsockname())
""",
    "room for files": """
room = os.statvfs(".")
print(room.f_bfree, room.f_ffree)
file = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(file, b"x" * 1_000_000)
keep(file)
""",
    "room for descriptors that are sent": """
for _ in range(20):
    keep(0, 0, 0)
print("sent")
""",
}


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_a_run_hears_nothing_of_those_before(sandbox: Sandbox, channel: str) -> None:
    modules = "import array, contextlib, ctypes, mmap, os, resource, socket\n"
    executions, _ = run_all(sandbox, f"{modules}{IN_FLIGHT}{channel}#    \n", [b""] * 5)
    said = outputs(executions)
    assert set(said) == {said[0]}
    assert said[0]


def test_a_run_has_a_process_group_of_its_own(sandbox: Sandbox) -> None:
    source = """
import os, signal
signal.signal(signal.SIGTERM, lambda *_: print("heard", flush=True))
print(os.getpgrp() == os.getpid(), flush=True)
os.killpg(os.getpgrp(), signal.SIGTERM)
os.killpg(0, signal.SIGTERM)
"""
    executions, walls = run_all(sandbox, source, [b""] * 3)
    alone = sandbox.run(Program(source=source), QUICK)
    assert outputs([*executions, alone]) == [b"True\nheard\nheard\n"] * 4
    assert walls == 1


@pytest.mark.parametrize("size", [0, 5000])
def test_outputs_that_nobody_can_close_are_not_waited_for(sandbox: Sandbox, size: int) -> None:
    source = (
        "import array, os, socket\n"
        f"{IN_FLIGHT}print('before', flush=True); keep(0, 1, 2); os._exit(0)\n"
    )
    began = time.monotonic()
    executions, _ = run_all(sandbox, source, [b"x" * size] * 10)
    alone = [sandbox.run(Program(source=source), QUICK, b"x" * size) for _ in range(10)]
    assert outputs([*executions, *alone]) == [b"before\n"] * 20
    assert time.monotonic() - began < 4


SEARCH = """
import os
what = bytes(byte ^ 1 for byte in {hidden!r})
found = 0
memory = os.open("/proc/self/mem", os.O_RDONLY)
for line in open("/proc/self/maps"):
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    try:
        found += os.pread(memory, end - start, start).count(what)
    except (OSError, OverflowError):
        pass
print(found < 5)
"""


@pytest.mark.parametrize("output_bytes", [100, 70_000, 1 * MIB])
def test_what_others_wrote_is_not_in_memory(sandbox: Sandbox, output_bytes: int) -> None:
    secret = b"what another wrote"
    runs = runs_of(sandbox, f"print({secret.decode()!r} * 5000)\n")
    try:
        runs.run(b"", output_bytes)
    finally:
        runs.close()
    limits = msgspec.structs.replace(QUICK, output_bytes=output_bytes)
    sandbox.run(Program(source=f"print({secret.decode()!r} * 5000)\n"), limits)
    source = SEARCH.format(hidden=bytes(byte ^ 1 for byte in secret))
    executions, _ = run_all(sandbox, source, [b""])
    assert outputs([*executions, sandbox.run(Program(source=source), QUICK)]) == [b"True\n"] * 2


LEFT = """
import os, time
print(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()) == [os.getpid()])
if os.fork() == 0:
    os.close(0), os.close(1), os.close(2)
    for _ in range(5):
        if os.fork() != 0:
            break
    while True:
        {do}
"""


@pytest.mark.parametrize("do", ["pass", "time.sleep(1)", "os.fork() == 0 or os.wait()"])
def test_processes_that_a_run_leaves_end_with_it(sandbox: Sandbox, do: str) -> None:
    executions, walls = run_all(sandbox, LEFT.format(do=do), [b""] * 3)
    assert outputs(executions) == [b"True\n"] * 3
    assert walls == 1


ATTACKS = {
    "signals": (
        "for number in range(1, 32):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
    ),
    "a look at its memory": (
        "for name in ('mem', 'maps', 'environ', 'fd', 'root'):\n"
        "    try: os.stat('/proc/1/' + name)\n"
        "    except FileNotFoundError: continue\n"
        "    print('there is', name)\n"
    ),
    "its line": (
        "for number in range(3, 100):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: continue\n"
        "    print('open:', number)\n"
    ),
    "its limits": (
        "for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_AS):\n"
        "    resource.prlimit(1, kind, (0, 0))\n"
    ),
    "its priority": (
        "os.setpriority(os.PRIO_PROCESS, 1, 19)\n"
        "os.setpriority(os.PRIO_USER, 0, 19)\n"
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_process_that_runs_fork_from_is_out_of_their_reach(
    sandbox: Sandbox, attack: str
) -> None:
    source = f"import os, resource\n{attack}print(input())\n"
    executions, _ = run_all(sandbox, source, [b"1", b"2", b"3"])
    assert outputs(executions) == [b"1\n", b"2\n", b"3\n"]


def test_a_run_that_is_ended_takes_no_other_with_it(sandbox: Sandbox) -> None:
    source = """
import os, time
what = input()
if what == "busy":
    while True: pass
if what == "asleep":
    time.sleep(9)
if what == "long":
    print("x" * 3_000_000)
if what == "killed":
    os.kill(os.getpid(), 9)
if what == "interrupted":
    os.kill(os.getpid(), 2)
print(what)
"""
    inputs = [b"1", b"busy", b"2", b"asleep", b"3", b"long", b"4", b"killed", b"interrupted", b"5"]
    executions, _ = run_all(sandbox, source, inputs, Limits().with_seconds(0.5))
    busy, asleep = executions[1], executions[3]
    assert isinstance(busy.ending, TimedOut)
    assert isinstance(asleep.ending, TimedOut)
    assert busy.usage.cpu_seconds > 10 * asleep.usage.cpu_seconds
    others = [execution for execution in executions if execution not in (busy, asleep)]
    assert [execution.ending for execution in others] == [
        *(Exited(0), Exited(0), Exited(0), OutputTooLong(), Exited(0), Signalled(signal.SIGKILL)),
        *(Exited(1), Exited(0)),
    ]
    assert executions[8].stderr.endswith(b"KeyboardInterrupt\n")
    printed = [execution.stdout for execution in executions if execution.ending == Exited(0)]
    assert printed == [b"1\n", b"2\n", b"3\n", b"4\n", b"5\n"]


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_a_run_may_start_as_many_processes_as_one_alone(sandbox: Sandbox, processes: int) -> None:
    source = """
import os, time
for count in range(20):
    try:
        if os.fork() == 0:
            time.sleep(9)
    except OSError:
        break
print(count)
"""
    limits = msgspec.structs.replace(QUICK, processes=processes)
    alone = sandbox.run(Program(source=source), limits)
    executions, walls = run_all(sandbox, source, [b""] * 3, limits)
    assert outputs(executions) == [alone.stdout] * 3
    assert walls == 1


def test_memory_is_limited_in_every_run(sandbox: Sandbox) -> None:
    source = "held = []\nwhile True: held.append(bytes(1 << 26))\n"
    limits = Limits(memory_bytes=512 * MIB).with_seconds(10)
    executions, _ = run_all(sandbox, source, [b""] * 3, limits)
    for execution in executions:
        assert execution.ending in (Exited(1), OutOfMemory())
        assert b"MemoryError" in execution.stderr or execution.ending == OutOfMemory()


def test_memory_that_is_nearly_too_much_is_judged_as_if_alone(sandbox: Sandbox) -> None:
    source = """
import time
held = []
try:
    while True: held.append(b"x" * (1 << 18))
except MemoryError:
    time.sleep(0.6)
"""
    limits = msgspec.structs.replace(QUICK, memory_bytes=256 * MIB)
    alone = sandbox.run(Program(source=source), limits)
    executions, _ = run_all(sandbox, source, [b""] * 2, limits)
    assert [execution.ending for execution in executions] == [alone.ending] * 2


@pytest.mark.parametrize("size", [0, 4096, 4097, 65536, 65537, 3_000_000])
def test_input_of_any_size_that_is_read_or_not(sandbox: Sandbox, size: int) -> None:
    given = bytes(range(97, 123)) * (size // 26) + b"z" * (size % 26)
    read = "import sys, zlib\nprint(zlib.crc32(sys.stdin.buffer.read()))\n"
    executions, walls = run_all(sandbox, read, [given, b"x", given])
    expected = f"{zlib.crc32(given)}\n".encode()
    assert outputs(executions) == [expected, f"{zlib.crc32(b'x')}\n".encode(), expected]
    assert walls == 1
    executions, _ = run_all(sandbox, "print(1)", [given, b"x", given])
    assert outputs(executions) == [b"1\n"] * 3


def test_what_does_not_compile_is_not_tried_again(sandbox: Sandbox) -> None:
    executions, walls = run_all(sandbox, "print(1\n", [b""] * 3)
    assert [execution.ending for execution in executions] == [Exited(1)] * 3
    assert not any(execution.compiled for execution in executions)
    assert b"SyntaxError: '(' was never closed" in executions[2].stderr
    assert walls == 1


def test_what_takes_too_long_to_compile(sandbox: Sandbox) -> None:
    source = f"x = {'(' * 80}{'1+' * 900_000}1{')' * 80}\n"
    executions, _ = run_all(sandbox, source, [b""] * 2, Limits().with_seconds(0.2))
    for execution in executions:
        assert execution.ending != Exited(0)
        assert not execution.compiled


def test_a_program_gets_its_arguments(sandbox: Sandbox) -> None:
    program = Program(source="import sys\nprint(sys.argv)\n", args=("a", "-b"))
    runs = sandbox.repeat(program, QUICK, times=2)
    try:
        assert runs.run(b"", 1000).stdout == b"['main.py', 'a', '-b']\n"
    finally:
        runs.close()


def test_a_first_process_that_is_killed_from_outside_is_replaced(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    try:
        assert runs.run(b"1", 1000).stdout == b"1\n"
        (first,) = children(runs._box.keeper)
        os.kill(first, signal.SIGKILL)
        assert runs.run(b"2", 1000).stdout == b"2\n"
        assert runs.run(b"3", 1000).stdout == b"3\n"
    finally:
        runs.close()


def test_a_keeper_that_is_killed_takes_all_with_it(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    try:
        assert runs.run(b"1", 1000).stdout == b"1\n"
        assert len(children(runs._box.keeper)) == 1
        os.kill(runs._box.keeper, signal.SIGKILL)
        with pytest.raises(SandboxError):
            runs.run(b"2", 1000)
        runs._box._process.wait(10)
    finally:
        runs.close()


def test_a_box_is_empty_when_it_is_given_back(sandbox: Sandbox) -> None:
    runs = runs_of(sandbox, "print(input())\n")
    assert runs.run(b"1", 1000).stdout == b"1\n"
    runs.close()
    assert sandbox.run(Program(source="print(2)"), QUICK).stdout == b"2\n"
    assert children(runs._box.keeper) == []


NAMES = """
secret = bytes(byte ^ 85 for byte in {secret}).decode()
for number in range(300):
    open(f"{{secret}}-{{number}}", "w").close()
"""
SCAN = """
secret = bytes(byte ^ 85 for byte in {secret})
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        where, rights = line.split()[:2]
        if rights.startswith("rw"):
            first, end = (int(side, 16) for side in where.split("-"))
            memory.seek(first)
            found += memory.read(end - first).count(secret)
print(found)
"""


def test_names_of_files_are_not_in_the_memory_of_the_next(sandbox: Sandbox) -> None:
    secret = [byte ^ 85 for byte in b"name-that-others-must-not-see"]
    scan = Program(source=SCAN.format(secret=secret))
    before = int(sandbox.run(scan, QUICK).stdout)
    runs = runs_of(sandbox, NAMES.format(secret=secret))
    try:
        runs.run(b"", 1000)
        runs.run(b"", 1000)
    finally:
        runs.close()
    assert int(sandbox.run(scan, QUICK).stdout) <= before + 1


def test_a_look_at_the_folder_leaves_no_time(sandbox: Sandbox) -> None:
    look = """
import os, time
if input() == "look":
    time.sleep(0.05)
    os.listdir(".")
now = os.stat(".")
print(now.st_atime_ns > now.st_mtime_ns)
"""
    runs = runs_of(sandbox, look)
    try:
        said = [runs.run(text, 1000).stdout for text in (b"no", b"look", b"no")]
        assert said[0] == said[2]
    finally:
        runs.close()
