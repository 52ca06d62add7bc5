"""What one case of a program, or one candidate, could leave behind for the next."""

import time

import msgspec
import pytest

from proctor.judge.conversation import GOODBYE, load_request
from proctor.records.limits import MIB
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.repeated_runs import MAX_PREPARATIONS
from tests.sandbox.supervisor.test_repeated_runs import QUICK, outputs, run_all, runs_of

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.parametrize("sandbox", ["kernel"], indirect=True),
]


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
    "an attribute of the folder": "os.setxattr('.', 'user.left', b'x')",
}


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_a_trace_in_the_scratch_folder_is_gone_in_the_next_run(
    sandbox: Sandbox, trace: str
) -> None:
    source = (
        "import os\n"
        "print(os.listdir('.'), open('main.py').read().count('\\n'), oct(os.stat('.').st_mode),\n"
        "      oct(os.stat('main.py').st_mode), os.listxattr('main.py') + os.listxattr('.'))\n"
        f"try: {trace}\n"
        "except OSError as error: print(error)\n"
    )
    executions, walls = run_all(sandbox, source, [b""] * (MAX_PREPARATIONS + 2))
    said = outputs(executions)
    assert set(said) == {said[0]}
    assert said[0].startswith(b"['main.py'] 5 0o40700 0o100644 []\n")
    assert walls == (1 if b"Operation not supported" in said[0] else MAX_PREPARATIONS)


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
    soft, hard = resource.getrlimit(which)
    with contextlib.suppress(PermissionError):
        resource.prlimit(1, which, (soft // 2 if soft > 1000 else soft, hard))
libc = ctypes.CDLL(None)
libc.prlimit(1, 10, (ctypes.c_ulong * 2)(1000, 2**64 - 1), None)
""",
    "too few descriptors": """
print(resource.getrlimit(resource.RLIMIT_NOFILE))
with contextlib.suppress(PermissionError):
    resource.prlimit(1, resource.RLIMIT_NOFILE, (6, 256))
""",
    "a priority": """
print(os.getpriority(os.PRIO_PROCESS, 0))
with contextlib.suppress(PermissionError):
    os.setpriority(os.PRIO_PROCESS, 1, 5)
""",
    "a policy": """
print(os.sched_getscheduler(0))
with contextlib.suppress(PermissionError):
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
with contextlib.suppress(PermissionError):
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
    "a hint": """
import fcntl, struct
folder = os.open(".", os.O_RDONLY)
print(fcntl.fcntl(folder, 1035, bytes(8)))
with contextlib.suppress(PermissionError):
    fcntl.fcntl(folder, 1036, struct.pack("Q", 3))
""",
    "memory of its parent": """
import sys
frame = sys._getframe()
while frame:
    print(frame.f_code.co_name)
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, (bytearray, memoryview)) and any(value):
            print(name, bytes(value))
    frame = frame.f_back
block = bytearray(77 << 20)
""",
    "locks and flags of its input": """
import fcntl, struct
def lock(fd, what, kind, at):
    return struct.unpack("hhqqi4x", fcntl.fcntl(fd, what, struct.pack("hhqqi4x", kind, 0, at, 1, 0)))
print(lock(os.open(os.devnull, os.O_RDWR), 36, 1, 1 << 40)[0], fcntl.fcntl(0, fcntl.F_GETFL))
with contextlib.suppress(OSError):  # a pipe that is read cannot be locked for writing
    lock(0, 37, 0, 1 << 40)
fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)
""",
}
MODULES = "import array, contextlib, ctypes, mmap, os, resource, socket\n"


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_a_run_hears_nothing_of_those_before(sandbox: Sandbox, channel: str) -> None:
    executions, _ = run_all(sandbox, f"{MODULES}{IN_FLIGHT}{channel}#    \n", [b""] * 5)
    said = outputs(executions)
    assert set(said) == {said[0]}
    assert said[0]


@pytest.mark.parametrize(
    "channel",
    [pytest.param(code, id=name) for name, code in CHANNELS.items() if "main.py" not in code],
)
def test_a_candidate_learns_nothing_of_those_before(sandbox: Sandbox, channel: str) -> None:
    requests = load_request(f"{MODULES}{IN_FLIGHT}{channel}", denied=False) + GOODBYE
    said = outputs([sandbox.exchange(requests, QUICK).execution for _ in range(3)])
    assert set(said) == {said[0]}
    assert said[0]


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


def test_names_of_files_are_not_in_memory(sandbox: Sandbox) -> None:
    hidden = bytes(byte ^ 1 for byte in b"how another called its files")
    names = f"name = bytes(byte ^ 1 for byte in {hidden!r}).decode()\n"
    leave = "for number in range(300): open(name + str(number), 'w').close()\n"
    run_all(sandbox, names + leave, [b""] * 2)
    source = SEARCH.format(hidden=hidden)
    executions, _ = run_all(sandbox, source, [b""])
    assert outputs([*executions, sandbox.run(Program(source=source), QUICK)]) == [b"True\n"] * 2


def test_a_look_at_the_folder_leaves_no_time(sandbox: Sandbox) -> None:
    look = """
import os, time
if input() == "look":
    time.sleep(0.05)
    os.listdir(".")
now = os.stat(".")
print(now.st_atime_ns > now.st_mtime_ns)
"""
    executions, walls = run_all(sandbox, look, [b"no", b"look", b"no"])
    first, _, last = outputs(executions)
    assert (first, walls) == (last, 1)
