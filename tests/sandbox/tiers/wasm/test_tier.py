"""What the wasm tier holds and what it cannot do."""

import io
import os
import threading
import time
import zipfile
from pathlib import Path

import msgspec
import pytest

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Exited, SandboxFailed, Signalled, TimedOut
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.tiers.select import AUTOMATIC, open_sandbox
from proctor.sandbox.tiers.wasm import open_wasm

LIMITS = Limits().with_seconds(5)


@pytest.fixture(scope="module")
def wasm(wasm_python):
    opened = open_wasm(wasm_python)
    yield opened
    opened.close()


def said(wasm, source, limits=LIMITS, stdin=b""):
    execution = wasm.run(Program(source=source), limits, stdin)
    assert execution.ending == Exited(0), execution
    return execution.stdout.decode()


def test_it_says_what_holds_and_what_is_missing(wasm):
    found = wasm.enforcement()
    assert (found.tier, found.isolated, found.packages) == ("wasm", True, ())
    assert found.toolchains["python"].endswith("(WASI: no threads, processes, numpy)")
    assert found.walls["processes"] == "WASI: only one, without threads"
    assert not [wall for wall in found.walls.values() if wall.startswith("not enforced")]


def test_what_it_cannot_do_is_refused(wasm, wasm_python):
    with pytest.raises(SandboxError, match="no notebooks"):
        wasm.notebook(LIMITS)
    for ask in (wasm.require_language, wasm.native):
        with pytest.raises(SandboxError, match="runs Python only"):
            ask("cpp")
    ran = wasm.run(Program(source="int main() {}", language="c"), LIMITS)
    assert isinstance(ran.ending, SandboxFailed)
    with pytest.raises(InputError, match="standard library only, not numpy"):
        open_wasm(wasm_python, packages=["numpy"])


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import threading; threading.Thread(target=print).start()", "can't start new thread"),
        ("import subprocess; subprocess.run(['true'])", "does not support processes"),
        ("import numpy", "No module named 'numpy'"),
        ("import socket; socket.create_connection(('127.0.0.1', 80))", "Error"),
        ("import os; os.fork()", "no attribute 'fork'"),
        ("import ctypes", "No module named 'ctypes'"),
    ],
)
def test_what_a_program_cannot_do_it_is_told(wasm, source, error):
    execution = wasm.run(Program(source=source), LIMITS)
    assert execution.ending == Exited(1)
    assert error in execution.stderr.decode()


def test_nothing_of_the_host_is_in_sight(wasm, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("nobody should read this")
    source = f"""
import os
for path in ({str(secret)!r}, {str(tmp_path)!r}, '/etc/passwd', '/proc/self/environ', '/home', '/',
             '..', '/tmp/..', '/tmp/../..', '/door/..', '../../../etc/passwd'):
    for look in (os.listdir, open):
        try: print(path, look(path))
        except OSError: pass
print(sorted(os.listdir('/tmp')), sorted(os.listdir('/door')))
print(sorted(os.environ))
for write in ('/door/x', '/x', '/usr/x', '/door/border'):
    try: print(open(write, 'w'))
    except OSError: pass
"""
    os.environ["PROCTOR_SECRET"] = "nobody should read this"
    try:
        first, second, *rest = said(wasm, source).splitlines()
    finally:
        del os.environ["PROCTOR_SECRET"]
    assert first == "['main.py'] ['border', 'given', 'stages']"
    assert "SECRET" not in second
    assert "PATH" not in second.replace("PYTHONSAFEPATH", "")
    assert rest == []


def test_links_lead_nowhere(wasm, tmp_path):
    (tmp_path / "secret").write_text("x")
    source = (
        "import os\n"
        "for n, target in enumerate(['/etc', '..', '../..', '../door', '../../../../etc']):\n"
        "    try:\n        os.symlink(target, f'l{n}')\n        print(os.listdir(f'l{n}'))\n"
        "    except OSError: pass\n"
    )
    assert said(wasm, source) == ""


@pytest.mark.parametrize(
    ("code", "ending"), [(0, Exited(0)), (126, Exited(126)), (200, Exited(200)), (-1, Exited(255))]
)
def test_every_exit_code_is_one(wasm, code, ending):
    assert wasm.run(Program(source=f"import os; os._exit({code})"), LIMITS).ending == ending


def test_calls_may_be_nested_and_too_deep_is_an_exception(wasm):
    source = """
from functools import cache
blocks = [bytes([n % 251]) * 5000 for n in range(4000)]
@cache
def f(n):
    return n and 1 + f(n - 1)
def g(n):
    return n and 1 + g(n - 1)
print(f(150), g(900))
class Deep:
    def __add__(self, other): return self + other
for nest in (lambda: f(10**5), lambda: g(10**5), lambda: Deep() + 1, lambda: eval('(' * 10**4)):
    try: nest()
    except (RecursionError, MemoryError): print('too deep')
print(all(block == bytes([n % 251]) * 5000 for n, block in enumerate(blocks)))
"""
    assert said(wasm, source) == "150 900\n" + "too deep\n" * 4 + "True\n"


def test_a_crash_ends_only_the_guest(wasm):
    assert wasm.run(Program(source="import os; os.abort()"), LIMITS).ending == Signalled(6)
    assert said(wasm, "print(1)") == "1\n"


def test_nobody_can_make_an_end_look_like_ours(wasm):
    source = """
import os
for name in os.listdir('/door'):
    fd = os.open('/door/' + name, os.O_RDONLY)
    for word in (b'FOSError: we failed', b'RC'):
        try: os.write(fd, word)
        except OSError: pass
for fd in range(3, 64):
    try: os.write(fd, b'FOSError: we failed')
    except OSError: pass
    try: os.close(fd)
    except OSError: pass
os._exit(120)
"""
    assert wasm.run(Program(source=source), LIMITS).ending == Exited(120)


def test_streams_that_were_closed_stay_so(wasm):
    source = """
import os
os.close(1)
file = os.open('out', os.O_WRONLY | os.O_CREAT)
os.write(file, b'in a file')
try: os.write(1, b'x')
except OSError as error: os.write(2, str(file > 2).encode())
"""
    execution = wasm.run(Program(source=source), LIMITS)
    assert (execution.stdout, execution.stderr) == (b"", b"True")


def test_memory_is_the_guests_own_and_counted(wasm):
    limits = msgspec.structs.replace(LIMITS, memory_bytes=100 * MIB)
    execution = wasm.run(Program(source="x = bytearray(60 << 20)"), limits)
    assert execution.ending == Exited(0)
    assert 60 * MIB < execution.usage.memory_bytes <= 100 * MIB
    assert b"MemoryError" in wasm.run(Program(source="bytearray(90 << 20)"), limits).stderr
    ample = msgspec.structs.replace(LIMITS, memory_bytes=10 * GIB)  # more than there can be
    assert said(wasm, "x = bytearray(60 << 20)", ample) == ""


def test_starting_takes_no_time_of_the_guests(wasm):
    limits = Limits(cpu_seconds=0.25, wall_seconds=0.25)
    assert wasm.run(Program(source="print(1)"), limits).usage.cpu_seconds < 0.25


def test_a_worker_that_is_killed_is_replaced_and_the_session_stays(wasm):
    session = wasm.session(Limits().with_seconds(0.5))
    try:
        session.write("kept", b"1")
        worker = session._box.keeper
        ran = session.exec(Program(source="import time; time.sleep(60)"))
        assert ran.ending == TimedOut("wall")
        assert not Path(f"/proc/{worker}").exists()
        assert session.exec(Program(source="print(open('kept').read())")).stdout == b"1\n"
    finally:
        session.close()


def test_a_worker_that_dies_is_not_the_guests_fault(wasm):
    session = wasm.session(LIMITS)
    try:
        worker = session._box.keeper
        kill = threading.Timer(1.0, os.kill, (worker, 9))
        kill.start()
        ran = session.exec(Program(source="while True: pass"))
        kill.join()
        assert ran.ending == SandboxFailed("the worker is gone")
    finally:
        session.close()


def test_the_same_worker_runs_many_and_keeps_nothing(wasm):
    session = wasm.session(LIMITS)
    try:
        worker = session._box.keeper
        for _ in range(3):
            session.exec(Program(source="import builtins; builtins.left = bytearray(50 << 20)"))
        assert session.exec(Program(source="print(left)")).ending == Exited(1)
        assert session._box.keeper == worker
        fds = os.listdir(f"/proc/{worker}/fd")
        session.exec(Program(source="fs = [open('main.py') for _ in range(50)]"))
        assert len(os.listdir(f"/proc/{worker}/fd")) <= len(fds)
    finally:
        session.close()


def test_a_live_guest_that_is_left_alone_goes(wasm):
    guest = wasm.open("candidate", LIMITS)
    begin = time.monotonic()
    assert guest.finish().ending == Exited(0)
    assert time.monotonic() - begin < 30
    assert said(wasm, "print(1)") == "1\n"


def test_automatic_never_means_wasm(tmp_path, monkeypatch):
    assert "wasm" not in AUTOMATIC
    monkeypatch.setenv("PROCTOR_CONFIG", str(tmp_path / "proctor.toml"))
    (tmp_path / "proctor.toml").write_text("")
    with pytest.raises(SandboxError, match="it needs a WASI build of Python: --wasm PATH"):
        open_sandbox("wasm", "python3")
    with pytest.raises(SandboxError, match="--require contained: wasm is less than that"):
        open_sandbox("wasm", "x.wasm", require="contained")


def test_the_settings_may_name_the_module(tmp_path, monkeypatch, wasm_python):
    monkeypatch.setenv("PROCTOR_CONFIG", str(tmp_path / "proctor.toml"))
    (tmp_path / "proctor.toml").write_text(f'sandbox = "wasm"\nwasm = "{wasm_python}"\n')
    sandbox = open_sandbox("wasm", "python3", require="wasm")
    try:
        assert said(sandbox, "import sys; print(sys.platform)") == "wasi\n"
    finally:
        sandbox.close()


def test_a_library_beside_a_module_is_used_and_cannot_be_changed(wasm, wasm_python, tmp_path):
    library = tmp_path / "lib/python3.12"
    carried = "/usr/local/lib/python312.zip"
    session = wasm.session(LIMITS.with_seconds(60))
    try:
        copied = session.exec(Program(source=f"import shutil; shutil.copy({carried!r}, 'all.zip')"))
        assert copied.ending == Exited(0), copied.stderr
        zipfile.ZipFile(io.BytesIO(session.read("all.zip"))).extractall(library)
    finally:
        session.close()
    if not (library / "os.py").exists():
        (library / "os.py").touch()  # by which Python knows its library; os.pyc is what it loads
    (tmp_path / "python.wasm").symlink_to(wasm_python)
    source = (
        "import bisect\nprint(bisect.__file__)\n"
        "for name in ('bisect.py', 'new.py'):\n"
        "    try: print(open('/lib/python3.12/' + name, 'w'))\n    except OSError: pass\n"
    )
    sandbox = open_wasm(str(tmp_path / "python.wasm"))
    try:
        assert said(sandbox, source).startswith("/lib/python3.12/bisect.py")
    finally:
        sandbox.close()
    assert not (library / "new.py").exists()
