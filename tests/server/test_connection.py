"""How the server ends, and what is left when a client or the server itself goes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

Running = Any
"""The server of conftest.py."""
Serve = Callable[..., Running]
ENDLESS = {"code": "while True: pass", "limits": {"cpu_seconds": 120, "wall_seconds": 120}}


def busy(server: Running) -> float:
    found = server.metrics()
    return float(found["proctor_workers_busy"] + found["proctor_queue_waiting"])


def in_background(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Call something on a thread and collect what comes of it."""
    came: list[Any] = []

    def run() -> None:
        try:
            came.append(call())
        except httpx2.TransportError as error:
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, came


def test_a_client_that_goes_frees_its_worker(server: Running) -> None:
    """Its program could run for two minutes more."""
    with server.connect() as connection:
        body = json.dumps(ENDLESS).encode()
        head = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        server.wait_for(lambda: busy(server) == 1)
    server.wait_for(lambda: busy(server) == 0)
    assert server.execute("print(1)").json()["stdout"] == "1\n"
    server.wait_for(lambda: any(line.get("gone") for line in server.log()))


def test_a_client_that_has_asked_for_more_meanwhile_frees_its_worker_too(server: Running) -> None:
    with server.connect() as connection:
        body = json.dumps(ENDLESS).encode()
        head = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        one = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        connection.sendall(one * 3)
        server.wait_for(lambda: busy(server) == 1)
    server.wait_for(lambda: busy(server) == 0)


def test_a_client_that_goes_leaves_no_place_in_the_queue(server: Running) -> None:
    calls = [
        in_background(
            lambda i=i: httpx2.post(
                f"{server.url}/v1/execute",
                json={**ENDLESS, "code": f"while True: pass # {i}"},
                timeout=1.5,
            )
        )
        for i in range(6)
    ]
    server.wait_for(lambda: busy(server) == 6)
    for thread, _ in calls:
        thread.join()
    server.wait_for(lambda: busy(server) == 0)


def test_who_breaks_a_stream_off_frees_its_work(server: Running) -> None:
    task = {
        "task_id": "loop",
        "entry_point": "f",
        "tests": {"kind": "assertions", "targets": ["f() == 1"]},
    }
    lines = [
        {"task": task, "completion": f"def f():\n    while True: pass # {i}", "options": {"timeout_s": 100}}
        for i in range(10)
    ]  # fmt: skip
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    with server.connect() as connection:
        head = "POST /v1/grade/batch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        server.wait_for(lambda: busy(server) >= 2)
    server.wait_for(lambda: busy(server) == 0)


def test_asked_to_end_it_finishes_what_it_has_accepted(serve: Serve) -> None:
    server = serve("--workers", "1")
    slow = {"code": "import time; time.sleep(1.5); print('done')"}
    first, came = in_background(lambda: server.client.post("/v1/execute", json=slow))
    server.wait_for(lambda: busy(server) == 1)  # or the second might come first
    second, later = in_background(
        lambda: server.client.post("/v1/execute", json={"code": "print('waited')"})
    )
    server.wait_for(lambda: busy(server) == 2)
    server.process.send_signal(signal.SIGTERM)
    server.wait_for(lambda: httpx2.get(f"{server.url}/readyz").status_code == 503)
    assert httpx2.get(f"{server.url}/healthz").status_code == 200
    more = httpx2.post(f"{server.url}/v1/execute", json={"code": "print(1)"})
    assert (more.status_code, more.json()["code"]) == (503, "draining")
    assert int(more.headers["retry-after"]) >= 1
    first.join()
    second.join()
    assert came[0].json()["stdout"] == "done\n"
    assert later[0].json()["stdout"] == "waited\n"
    assert server.process.wait(20) == 0
    assert "Traceback" not in server.said_path.read_text()


def test_asked_twice_it_ends_now(serve: Serve, processes_below: Callable[[int], set[int]]) -> None:
    server = serve("--workers", "1")
    thread, came = in_background(lambda: server.client.post("/v1/execute", json=ENDLESS))
    server.wait_for(lambda: busy(server) == 1)
    below = processes_below(server.pid)
    server.process.send_signal(signal.SIGTERM)
    server.wait_for(lambda: httpx2.get(f"{server.url}/readyz").status_code == 503)
    assert server.process.poll() is None
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 130
    thread.join()
    assert isinstance(came[0], httpx2.TransportError)
    server.wait_for(lambda: not _alive(below))


def test_killed_it_leaves_nothing(serve: Serve, processes_below: Callable[[int], set[int]]) -> None:
    server = serve("--workers", "2")
    calls = [
        in_background(
            lambda i=i: server.client.post(
                "/v1/execute",
                json={**ENDLESS, "code": f"import os\nos.fork()\nwhile True: pass # {i}"},
            )
        )
        for i in range(4)
    ]
    server.wait_for(lambda: busy(server) == 4)
    server.wait_for(lambda: len(processes_below(server.pid)) >= 6)  # boxes, and what runs in them
    below = processes_below(server.pid)
    server.process.kill()
    for thread, came in calls:
        thread.join()
        assert isinstance(came[0], httpx2.TransportError)
    server.wait_for(lambda: not _alive(below))
    server.wait_for(lambda: not list(server.scratch.iterdir()))


def _alive(pids: set[int]) -> set[int]:
    """Return which processes are still there; a zombie is not."""
    found = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.add(pid)
    return found


@pytest.mark.parametrize("kind", ["/v1/grade", pytest.param("/v1/execute", marks=pytest.mark.slow)])
def test_killing_keepers_is_at_most_a_reason_to_ask_again(
    serve: Serve, processes_below: Callable[[int], set[int]], kind: str
) -> None:
    """Requests go on while all boxes are killed, again and again; no verdict is ever wrong."""
    server = serve("--workers", "2")
    task = {
        "task_id": "add",
        "entry_point": "add",
        "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "max(add(0, 1), 0) == 1"]},
    }
    stop = threading.Event()
    answers: list[Any] = []

    def ask(lane: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            code = f"def add(a, b): return a + b # {lane} {number}"
            body = {"task": task, "completion": code}
            if kind == "/v1/execute":
                body = {"code": f"print({number})"}
            answers.append((number, httpx2.post(f"{server.url}{kind}", json=body, timeout=60)))

    lanes = [threading.Thread(target=ask, args=[lane]) for lane in range(4)]
    for lane in lanes:
        lane.start()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        time.sleep(0.3)  # often enough to hit a sample's second try, too
        # keepers before their guests, which are younger: a guest that is killed has crashed
        for pid in sorted(processes_below(server.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # started by the server that this test started
    stop.set()
    for lane in lanes:
        lane.join()
    right = 0
    for number, answer in answers:
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) >= 1
            continue
        assert answer.status_code == 200
        if kind == "/v1/execute":
            assert answer.json()["stdout"] == f"{number}\n", answer.text
        else:
            [receipt] = answer.json()["receipts"]
            assert receipt["outcome"] in ("pass", None), answer.text
            right += receipt["outcome"] == "pass"
    assert right or kind == "/v1/execute"
    assert server.execute("print('still there')").json()["stdout"] == "still there\n"


def test_a_port_that_is_taken_is_said(server: Running) -> None:
    command = [sys.executable, "-m", "proctor", "serve", "--port", str(server.port)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"cannot listen on 127.0.0.1:{server.port}" in ran.stderr
