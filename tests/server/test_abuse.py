"""Too much, nonsense and malice: refused or contained, and afterwards all is as before."""

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

Running = Any
"""The server of conftest.py."""
Serve = Callable[..., Running]
Below = Callable[[int], set[int]]
ADD = {
    "task_id": "add",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
}


class Footprint:
    """What a server holds of its host."""

    def __init__(self, server: Running, below: Below) -> None:
        self.descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
        self.processes = len(below(server.pid))
        self.files = len(list(server.scratch.iterdir()))
        status = Path(f"/proc/{server.pid}/status").read_text()
        lines = dict(line.split(":", 1) for line in status.splitlines())
        self.megabytes = int(lines["VmRSS"].split()[0]) // 1024
        self.threads = int(lines["Threads"])

    def __repr__(self) -> str:
        return str(vars(self))


def flood(server: Running, lanes: int, seconds: float) -> Counter[str]:
    """Ask without a pause on so many connections; every answer is right or polite."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    end = time.monotonic() + seconds

    def lane(number: int) -> None:
        with httpx2.Client(base_url=server.url, timeout=60) as client:
            asked = 0
            while time.monotonic() < end:
                asked += 1
                good = asked % 2 == 0
                if number % 2:
                    body = {"code": f"import time; time.sleep(0.1); print({number}, {asked})"}
                    answer = client.post("/v1/execute", json=body)
                    right = f'"stdout":"{number} {asked}\\n"'
                else:
                    sign = "+" if good else "-"
                    code = f"import time; time.sleep(0.1)\ndef add(a, b): return a {sign} b # {number} {asked}"
                    answer = client.post("/v1/grade", json={"task": ADD, "completion": code})
                    right = '"outcome":"pass"' if good else '"outcome":"assertion_fail"'
                if answer.status_code == 429:
                    counts["refused"] += 1
                    if int(answer.headers["retry-after"]) < 1:
                        wrong.append(answer.text)
                elif answer.status_code == 200 and right in answer.text:
                    counts["right"] += 1
                else:
                    wrong.append(answer.text)

    threads = [threading.Thread(target=lane, args=[number]) for number in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]
    return counts


def check_flood(server: Running, below: Below, lanes: int, seconds: float) -> None:
    flood(server, 4, 1.0)
    before = Footprint(server, below)
    counts = flood(server, lanes, seconds)
    assert counts["right"]
    assert counts["refused"]

    def as_before() -> bool:
        now = Footprint(server, below)
        return (
            now.descriptors <= before.descriptors + 4
            and now.processes <= before.processes + 4
            and now.files <= before.files + 4
            and now.megabytes <= before.megabytes + 100
            and now.threads <= before.threads + 4
        )

    server.wait_for(as_before, 40)
    assert server.execute("print('as before')").json()["stdout"] == "as before\n"


def test_ten_times_too_much_is_refused_politely(serve: Serve, processes_below: Below) -> None:
    server = serve("--workers", "2", "--queue", "4", "--quiet")
    check_flood(server, processes_below, lanes=40, seconds=4.0)


@pytest.mark.slow
def test_ten_times_too_much_for_two_minutes(serve: Serve, processes_below: Below) -> None:
    server = serve("--workers", "2", "--queue", "20")
    check_flood(server, processes_below, lanes=220, seconds=120.0)


GOOD = [
    b'POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{"code": "print(1)"}',
    b'POST /run_code HTTP/1.1\r\nhost: localhost\r\ncontent-length: 42\r\n\r\n{"code": "print(1)", "language": "python"}',
    b"GET /v1/tasks/basics/add?benchmark=basics HTTP/1.1\r\nhost: localhost\r\n\r\n",
    b"POST /v1/grade/batch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: keep-alive\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
]  # fmt: skip
INSERTS = [b"\0", b"\r\n", b"\n", b"\xff\xfe", b":", b"%00", b"%zz", b"..", b"/../..", b"\r\n ", b"{" * 300, b'"', b"content-length: 5\r\n", b"content-length: -1\r\n", b"transfer-encoding: chunked\r\n", b"expect: 100-continue\r\n", b"upgrade: websocket\r\nconnection: upgrade\r\n", b"99999999999999999999", b"HTTP/2.0", b" "]  # fmt: skip


def mutated(seed: int) -> bytes:
    """Return a request that was good once."""
    dice = random.Random(seed)
    text = bytearray(dice.choice(GOOD))
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(text) + 1)
        match dice.randrange(4):
            case 0:
                text[place:place] = dice.choice(INSERTS)
            case 1:
                del text[place : place + dice.randint(1, 20)]
            case 2:
                text[place : place + 1] = bytes([dice.randrange(256)])
            case 3:
                del text[place:]
    return bytes(text)


def check_bytes(server: Running, texts: Iterable[bytes]) -> None:
    """Send all of them, several at once; what is no whole request is answered by nothing."""

    def check(text: bytes) -> None:
        said = server.say(text, patience=1.0)
        assert not said or said.startswith(b"HTTP/1.1 "), (text, said)
        assert b"HTTP/1.1 50" not in said, (text, said)
        # damaged programs may fail and say so: that is theirs
        assert b"Traceback" not in said.replace(b'"stderr":"Traceback', b""), (text, said)

    with ThreadPoolExecutor(48) as pool:  # most of them wait until nothing more comes
        for _ in pool.map(check, texts):
            pass
    assert server.client.get("/healthz").status_code == 200
    assert "Traceback" not in server.said_path.read_text()


def nonsense(seed: int) -> bytes:
    dice = random.Random(seed)
    return dice.randbytes(dice.randint(1, 300))


def test_bytes_that_are_no_request(server: Running) -> None:
    check_bytes(server, map(nonsense, range(200)))


def test_requests_that_are_damaged(server: Running) -> None:
    check_bytes(server, map(mutated, range(500)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_very_many_requests_that_are_damaged(server: Running) -> None:
    check_bytes(server, map(mutated, range(1000, 21000)))
    check_bytes(server, map(nonsense, range(1000, 11000)))


# What a request could do to the service that this one replaces.


def output(server: Running, code: str, **more: Any) -> dict[str, Any]:
    answer = server.execute(code, **more)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_files_of_the_host_are_not_in_sight(server: Running) -> None:
    code = (
        "import os\n"
        "for path in ('/etc/shadow', '/etc/passwd', '/root', '/home', '/proc/1/environ'):\n"
        "    try: print(os.listdir(path) if os.path.isdir(path) else open(path).read())\n"
        "    except OSError as error: print(type(error).__name__)\n"
    )
    shadow, users, *others = output(server, code)["stdout"].splitlines()
    assert shadow.endswith("Error")
    assert users not in Path("/etc/passwd").read_text()
    assert not {"daemon", os.environ.get("HOME", "")} & {
        part for line in others for part in line.split(":")
    }


def test_requests_do_not_see_each_other(server: Running) -> None:
    """One waits with a secret in its memory, its files and its arguments; another looks for it."""
    secret = "not-for-you-4711"
    came: list[Any] = []
    hold = threading.Thread(
        target=lambda: came.append(
            server.execute(
                f"open('{secret}', 'w').write('{secret}')\nimport time; time.sleep(2); print(open('{secret}').read())",
                args=[secret],
            )
        )
    )
    hold.start()
    look = (
        "import os, signal\n"
        "seen = []\n"
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    try: seen.append(open(f'/proc/{pid}/cmdline').read())\n"
        "    except OSError: pass\n"
        "for folder, _, files in os.walk('/tmp'): seen += files\n"
        "for pid in range(2, 3000):\n"
        "    if pid != os.getpid():\n"
        "        try: os.kill(pid, signal.SIGKILL)\n"
        "        except OSError: pass\n"
        "print(seen)\n"
    )
    time.sleep(0.5)
    assert secret not in output(server, look)["stdout"]
    hold.join()
    assert came[0].json()["stdout"] == f"{secret}\n"


def test_daemons_end_with_their_request(server: Running, processes_below: Below) -> None:
    output(server, "print(1)")
    before = len(processes_below(server.pid))
    code = (
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        time.sleep(1000)\n"
        "print('gone')\n"
    )
    assert output(server, code)["stdout"] == "gone\n"
    server.wait_for(lambda: len(processes_below(server.pid)) <= before + 2)


def test_what_is_written_is_gone_with_the_request(server: Running) -> None:
    fill = (
        "block = b'x' * (1 << 20)\n"
        "try:\n"
        "    for number in range(100000):\n"
        "        with open(f'/tmp/{number}', 'wb') as file:\n"
        "            for _ in range(32): file.write(block)\n"
        "except OSError as error: print(error.errno)\n"
    )
    ended = output(server, fill, limits={"wall_seconds": 20, "cpu_seconds": 20})
    assert ended["stdout"] == "28\n" or ended["ending"]["type"] in ("denied", "out_of_memory")
    left = output(server, "import os; print(os.listdir('/tmp'), os.listdir('.'))")
    assert left["stdout"] in ("[] []\n", "['main.py'] ['main.py']\n")


def test_the_service_cannot_be_called_from_within(server: Running) -> None:
    code = (
        "import socket\n"
        f"try: socket.create_connection(('127.0.0.1', {server.port}), 2); print('connected')\n"
        "except OSError as error: print('no')\n"
    )
    assert output(server, code)["stdout"] == "no\n"


def test_nothing_can_be_planted_for_the_next(server: Running) -> None:
    plant = (
        "import site, sys, os\n"
        "line = 'import sys; sys.stdout.write(\"planted\")'\n"
        "for folder in [*sys.path, *site.getsitepackages(), site.getusersitepackages(), '/tmp', '.']:\n"
        "    for name in ('x.pth', 'sitecustomize.py', 'usercustomize.py'):\n"
        "        try:\n"
        "            os.makedirs(folder or '.', exist_ok=True)\n"
        "            open(os.path.join(folder, name), 'w').write(line)\n"
        "        except OSError: pass\n"
    )
    for more in ({}, {"files": {"a": ""}}):
        assert output(server, plant, **more)["exit_code"] == 0
        for _ in range(4):
            assert output(server, "print('clean')", **more)["stdout"] == "clean\n"


def test_the_server_cannot_be_killed(server: Running) -> None:
    code = (
        "import os, signal\n"
        f"for pid in ({server.pid}, 1, -1, os.getppid()):\n"
        "    try: os.kill(pid, signal.SIGKILL)\n"
        "    except OSError: pass\n"
    )
    server.execute(code)
    assert output(server, "print('alive')")["stdout"] == "alive\n"
    assert server.process.poll() is None


@pytest.mark.parametrize("size", [150_000, 262_000, 500_000, 1_000_000])
def test_output_is_whole_or_said_to_be_cut(server: Running, size: int) -> None:
    code = f"import sys; sys.stdout.write('x' * {size})"
    whole = output(server, code, limits={"output_bytes": 1 << 20})
    assert (len(whole["stdout"]), whole["truncated"], whole["exit_code"]) == (size, False, 0)
    cut = output(server, code, limits={"output_bytes": 100_000})
    assert (len(cut["stdout"]), cut["truncated"]) == (100_000, True)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "x = []\nwhile True: x.append(bytearray(16 << 20))",
        "while True: print('x' * 65536)",
        "def f(): return f()\nimport sys; sys.setrecursionlimit(10**9); f()",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
        "import threading\nwhile True: threading.Thread(target=lambda: __import__('time').sleep(9)).start()",
    ],
)
def test_bombs_end_as_what_they_are(server: Running, code: str) -> None:
    found = output(server, code, limits={"wall_seconds": 2, "cpu_seconds": 2})
    assert found["ending"] != {"type": "exited", "code": 0}
    assert output(server, "print('next')")["stdout"] == "next\n"


def test_tests_that_are_hostile_harm_nobody(server: Running) -> None:
    """The tests of an inline task are the caller's own code; they run in the sandbox, too."""
    tests = {"kind": "assertions", "targets": ["__import__('os').system('kill -9 -1') == 0"]}
    body = {"task": {**ADD, "tests": tests}, "completion": "def add(a, b): return 0"}
    answer = server.client.post("/v1/grade", json=body)
    assert answer.status_code == 200
    assert answer.json()["receipts"][0]["outcome"] != "pass"
    body = {"task": ADD, "completion": "def add(a, b): return a + b"}
    good = server.client.post("/v1/grade", json=body).json()["receipts"][0]
    assert good["outcome"] == "pass"


def test_identical_requests_run_once(server: Running) -> None:
    """Ten at once, each of which takes a second on one of two workers."""
    code = "import time, random; time.sleep(1); print(random.SystemRandom().random())"
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(server.execute(code).json()["stdout"]))
        for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 10
    assert len(set(answers)) < 10


def test_json_that_is_a_bomb(server: Running) -> None:
    wide = json.dumps({"task": {**ADD, "tests": {"kind": "calls", "fn_name": "add", "inputs": [[1] * 100_000] * 10, "outputs": [1] * 10}}, "completion": "x"})  # fmt: skip
    kind = {"content-type": "application/json"}
    answer = server.client.post("/v1/grade", content=wide, headers=kind)
    assert answer.status_code in (200, 422)
    big = b'{"code": "print(1)", "stdin": ' + b"9" * 100_000 + b"}"
    assert server.client.post("/v1/execute", content=big, headers=kind).status_code == 422
