"""What programs could do to SandboxFusion's server, tried on ours through the same door."""

import concurrent.futures
import os
import shutil
import time
from pathlib import Path

import pytest

PLANTED = (
    "import os, site, sys, sysconfig\n"
    "line = 'import os; os._exit(7)\\n'\n"
    "places = [*sys.path, sysconfig.get_path('purelib'), site.getusersitepackages(), '/packages',\n"
    "          os.path.dirname(os.__file__), '/tmp', '/']\n"
    "for place in places:\n"
    "    for name in ('plant.pth', 'sitecustomize.py', 'usercustomize.py', 'json.py'):\n"
    "        try:\n"
    "            os.makedirs(place, exist_ok=True)\n"
    "            open(os.path.join(place, name), 'w').write(line)\n"
    "        except OSError: pass\n"
    "print('planted')\n"
)


def test_secrets_of_the_host_are_out_of_sight(run):
    code = (
        "import glob\n"
        "for path in ('/etc/shadow', '/root/.ssh/id_rsa', '/proc/1/environ', '/proc/1/root/etc/shadow'):\n"
        "    try: print('READ', open(path, 'rb').read())\n"
        "    except OSError as error: print(type(error).__name__)\n"
        "print(glob.glob('/root/*'), glob.glob('/home/*'))\n"
    )
    answer = run(code)
    assert answer["status"] == "Success"
    assert "PROCTOR" not in answer["run_result"]["stdout"]
    lines = answer["run_result"]["stdout"].splitlines()
    assert lines[0] == "FileNotFoundError"
    assert lines[-1] == "[] []"
    shadow = run(
        "import os; os.symlink('/etc/shadow', 'link')", fetch_files=["/etc/shadow", "link"]
    )
    assert shadow["files"] == {}


def test_nothing_of_our_environment_is_in_sight(run):
    seen = run("import os; print(sorted(os.environ))")["run_result"]["stdout"]
    assert "PYTEST_CURRENT_TEST" not in seen


def test_other_requests_are_out_of_reach(run):
    """One works on a file of its own; the other looks for it, changes what it can, kills all."""
    victim = (
        "import time\nopen('secret', 'w').write('mine')\ntime.sleep(2)\n"
        "print(open('secret').read())\n"
    )
    attack = (
        "import glob, os, signal, time\nend = time.time() + 1.5\nseen = set()\n"
        "while time.time() < end:\n"
        "    seen |= set(glob.glob('/tmp/*')) | set(glob.glob('/proc/[0-9]*/root/tmp/secret'))\n"
        "    for pid in range(2, 400):\n"
        "        if pid != os.getpid():\n"
        "            try: os.kill(pid, signal.SIGKILL)\n"
        "            except OSError: pass\n"
        "print(sorted(seen), [p for p in os.listdir('/proc') if p.isdigit()] == [str(os.getpid())])\n"
    )
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        first = threads.submit(run, victim, fetch_files=["secret"])
        second = threads.submit(run, attack, fetch_files=["x"])
        assert first.result()["run_result"]["stdout"] == "mine\n"
        assert second.result()["run_result"]["stdout"].startswith("['/tmp/main.py']")


def test_no_daemon_stays(run, processes_below):
    run("print(1)")  # so that boxes are warm
    before = processes_below(os.getpid())
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n"
        "    os._exit(0)\nprint('left')\n"
    )
    for fields in ({}, {"fetch_files": ["x"]}):
        assert run(code, **fields)["run_result"]["stdout"] == "left\n"
    bash = run("setsid nohup sleep 600 >/dev/null 2>&1 & echo left", "bash")
    assert bash["run_result"]["stdout"] == "left\n"
    end = time.monotonic() + 10
    while time.monotonic() < end:
        names = [_command(pid) for pid in processes_below(os.getpid()) - before]
        if not any("sleep" in name for name in names):
            break
        time.sleep(0.1)
    assert not any("sleep" in name for name in names)
    assert len(names) <= 8, "boxes for files and for bash, no more"


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_full_folder_is_empty_for_the_next(run):
    fill = (
        "import os\ntry:\n    for n in range(64):\n"
        "        open(f'fill{n}', 'wb').write(bytes(16 << 20))\n"
        "except OSError as error: print(error.errno)\n"
    )
    free = shutil.disk_usage("/tmp").free
    for fields in ({}, {"fetch_files": ["x"]}):
        assert run(fill, **fields)["run_result"]["stdout"] == "28\n"
        after = run(
            "import os; print(os.listdir('.'), bool(open('x', 'wb').write(bytes(1 << 26))))",
            **fields,
        )
        assert after["run_result"]["stdout"] == "['main.py'] True\n"
    assert abs(shutil.disk_usage("/tmp").free - free) < 1 << 28


def test_the_service_cannot_be_called_from_inside(run, url):
    port = url.rpartition(":")[2]
    code = (
        "import socket\n"
        f"for address in (('127.0.0.1', {port}), ('::1', {port}), ('localhost', {port})):\n"
        "    try: socket.create_connection(address, 2); print('CONNECTED')\n"
        "    except OSError as error: print('refused')\n"
    )
    assert run(code)["run_result"]["stdout"] == "refused\n" * 3
    bash = run(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo CONNECTED", "bash")
    assert "CONNECTED" not in bash["run_result"]["stdout"]


@pytest.mark.parametrize("fields", [{}, {"fetch_files": ["x"]}])
def test_nothing_can_be_planted_for_the_next_request(run, fields):
    for _ in range(4):  # whichever box it was
        assert run(PLANTED, **fields)["run_result"]["stdout"] == "planted\n"
        after = run("import json, os; print(json.__file__, os.listdir('.'))", **fields)
        assert after["status"] == "Success", after
        assert "/tmp" not in after["run_result"]["stdout"].split()[0]


def test_the_server_cannot_be_killed(run):
    code = (
        "import os, signal\n"
        f"for pid in (os.getppid(), 1, {os.getpid()}, {os.getppid()}, -1):\n"
        "    try: os.kill(pid, signal.SIGKILL)\n"
        "    except OSError: pass\n"
        "print('tried', flush=True)\n"
    )
    for fields in ({}, {"fetch_files": ["x"]}):
        assert run(code, **fields)["status"] in {"Success", "Failed"}
        assert run("print(1)", **fields)["run_result"]["stdout"] == "1\n"


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import os\nwhile True: os.fork()", "python"),
        (":(){ :|:& };:; sleep 60", "bash"),
        ("x = []\nwhile True: x.append(bytearray(1 << 24))", "python"),
        ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "python"),
        ("import os\nn = 0\nwhile True:\n    os.mkdir('d'); os.chdir('d')", "python"),
    ],
)
def test_bombs_end_by_themselves_or_by_us(run, code, language):
    answer = run(code, language, run_timeout=3, memory_limit_MB=256)
    assert answer["status"] == "Failed"
    assert run("print(1)")["run_result"]["stdout"] == "1\n"
