"""What every request has to pass: keys, sizes, times, and where it comes from."""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

Running = Any
"""The server of conftest.py."""
ADD = {
    "task_id": "add",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
}
GRADE = {"task": ADD, "completion": "def add(a, b): return a + b"}
POST = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def new_key(file: Path, name: str, scope: str) -> str:
    command = [sys.executable, "-m", "proctor", "keys", "new", name]
    command += ["--file", str(file), "--scope", scope]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def locked(
    tmp_path_factory: pytest.TempPathFactory, server: Running
) -> Iterator[tuple[Running, dict[str, str]]]:
    """Serve with keys, one for each scope."""
    folder = tmp_path_factory.mktemp("locked")
    file = folder / "keys.jsonl"
    scopes = ("grade", "execute", "tasks", "tests", "metrics", "tasks,tests")
    keys = {scope: new_key(file, scope.replace(",", "-"), scope) for scope in scopes}
    running = type(server)(folder / "server", "--workers", "1", "--keys", str(file))
    yield running, keys
    assert running.stop() == 0
    told = running.log_path.read_text() + running.said_path.read_text()
    assert not [key for key in keys.values() if key in told]


def test_who_has_no_key_gets_nothing(locked: tuple[Running, dict[str, str]]) -> None:
    server, keys = locked
    good = keys["execute"]
    for headers in (
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": f"Basic {good}"},
        {"authorization": good},
        {"authorization": f"Bearer {good}x"},
        {"authorization": f"Bearer {good[:-1]}"},
        {"x-api-key": ""},
    ):
        for path in ("/v1/execute", "/run_code", "/nope"):
            answer = server.client.post(path, json={"code": "print(1)"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "key")
            assert answer.headers["www-authenticate"] == "Bearer"


def test_a_body_without_a_key_is_not_even_read(locked: tuple[Running, dict[str, str]]) -> None:
    server, _ = locked
    with server.connect() as connection:
        connection.sendall(f"{POST}content-length: 30000000\r\n\r\n".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 401")


def test_a_key_opens_what_it_is_for(locked: tuple[Running, dict[str, str]]) -> None:
    server, keys = locked
    needs = {
        ("POST", "/v1/grade"): "grade",
        ("POST", "/v1/grade/batch"): "grade",
        ("POST", "/submit"): "grade",
        ("POST", "/v1/execute"): "execute",
        ("POST", "/run_code"): "execute",
        ("GET", "/v1/benchmarks"): "tasks",
        ("GET", "/v1/benchmarks/basics"): "tasks",
        ("GET", "/v1/tasks/basics/add?benchmark=basics"): "tasks",
        ("GET", "/list_datasets"): "tasks",
        ("GET", "/metrics"): "metrics",
    }
    for (method, path), needed in needs.items():
        for scope, key in keys.items():
            headers = {"authorization": f"Bearer {key}"}
            answer = server.client.request(method, path, headers=headers)
            allowed = needed in scope.split(",")
            assert (answer.status_code != 403) == allowed, (path, scope, answer.text)


def test_a_key_may_come_in_a_header_of_its_own(locked: tuple[Running, dict[str, str]]) -> None:
    server, keys = locked
    headers = {"x-api-key": keys["execute"]}
    answer = server.client.post("/v1/execute", json={"code": "print(1)"}, headers=headers)
    assert answer.json()["stdout"] == "1\n"


def test_tests_are_shown_to_a_key_that_is_for_them(locked: tuple[Running, dict[str, str]]) -> None:
    server, keys = locked
    path = "/v1/tasks/basics/add?benchmark=basics&tests=true"
    few = server.client.get(path, headers={"authorization": f"Bearer {keys['tasks']}"})
    assert few.status_code == 403
    all_ = server.client.get(path, headers={"authorization": f"Bearer {keys['tasks,tests']}"})
    assert all_.json()["tests"]
    assert "return" in all_.json()["canonical_solution"]


def test_health_needs_no_key(locked: tuple[Running, dict[str, str]]) -> None:
    server, _ = locked
    for path in ("/healthz", "/readyz", "/v1/ping", "/schema", "/schema/openapi.json"):
        assert server.client.get(path).status_code == 200


def test_the_log_says_who_and_what_but_no_secrets(locked: tuple[Running, dict[str, str]]) -> None:
    server, keys = locked
    secret = "a-secret-in-a-program"
    headers = {"authorization": f"Bearer {keys['execute']}", "x-request-id": "my.id-7"}
    body = {"code": f"print('{secret}')", "stdin": secret}
    answer = server.client.post(f"/v1/execute?token={secret}", json=body, headers=headers)
    assert answer.headers["x-request-id"] == "my.id-7"
    server.wait_for(lambda: any(line.get("id") == "my.id-7" for line in server.log()))
    [line] = [line for line in server.log() if line.get("id") == "my.id-7"]
    assert (line["key"], line["method"], line["path"]) == ("execute", "POST", "/v1/execute")
    assert (line["status"], line["client"], line["gone"]) == (200, "127.0.0.1", False)
    assert line["bytes_in"] == len(json.dumps(body, separators=(",", ":")).encode())
    assert secret not in server.log_path.read_text()


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "<script>", "ü"])
def test_an_id_that_is_none_is_not_repeated(server: Running, given: str) -> None:
    headers = {"x-request-id": given.encode()}
    answer = server.client.get("/healthz", headers=headers)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", answer.headers["x-request-id"])


def test_other_hosts_and_other_sites_are_refused(server: Running) -> None:
    """A page elsewhere that points its name here, or just posts here, gets nothing done."""
    rebound = server.client.get("/healthz", headers={"host": "evil.example"})
    assert (rebound.status_code, rebound.json()["code"]) == (421, "host")
    for origin in ("http://evil.example", "null", "http://localhost:1"):
        crossed = server.client.post("/v1/execute", json={"code": "1"}, headers={"origin": origin})
        assert (crossed.status_code, crossed.json()["code"]) == (403, "origin")
    asked = server.client.options(
        "/v1/execute",
        headers={"origin": "http://evil.example", "access-control-request-method": "POST"},
    )
    assert asked.status_code == 403
    for answer in (rebound, crossed, asked):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_elsewhere_than_on_loopback_needs_keys() -> None:
    command = [sys.executable, "-m", "proctor", "serve", "--host", "0.0.0.0", "--port", "0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "--keys FILE" in ran.stderr
    assert "--insecure" in ran.stderr


def test_too_large_a_body_is_refused_before_it_comes(server: Running) -> None:
    with server.connect() as connection:
        connection.sendall(f"{POST}content-length: {1 << 30}\r\n\r\n".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


def test_too_large_a_body_in_chunks_is_refused_on_the_way(server: Running) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with server.connect() as connection:
        connection.sendall(f"{POST}transfer-encoding: chunked\r\n\r\n".encode())
        answer = b""
        try:
            for _ in range(64):
                connection.sendall(chunk)
            answer = connection.recv(65536)
        except OSError:
            return  # it hung up, having said so
        assert answer.startswith(b"HTTP/1.1 413")


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory, server: Running) -> Iterator[Running]:
    """Serve with little patience."""
    folder = tmp_path_factory.mktemp("hasty") / "server"
    bounds = {"read_seconds": 1.0, "connections": 20, "held_bytes": 1 << 20}
    running = type(server)(folder, "--workers", "1", bounds=bounds)
    yield running
    assert running.stop() == 0


def heard(connection: socket.socket) -> tuple[bytes, float]:
    """Return what comes until the server hangs up, and how long that takes."""
    begun = time.monotonic()
    try:
        said = b"".join(iter(lambda: connection.recv(65536), b""))
    except ConnectionResetError:
        said = b""
    return said, time.monotonic() - begun


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (b"", b"HTTP/1.1 400"),
        (b"POST /v1/exe", b"HTTP/1.1 400"),
        (b"POST /v1/execute HTTP/1.1\r\nhost: localhost\r\nx-a:", b"HTTP/1.1 400"),
        (f"{POST}content-length: 100\r\n\r\n".encode(), b"HTTP/1.1 408"),
        (f"{POST}content-length: 100\r\n\r\n{{".encode(), b"HTTP/1.1 408"),
        (f"{POST}transfer-encoding: chunked\r\n\r\n5\r\nab".encode(), b"HTTP/1.1 408"),
    ],
)
def test_who_does_not_go_on_is_not_waited_for(hasty: Running, begin: bytes, said: bytes) -> None:
    with hasty.connect() as connection:
        connection.sendall(begin)
        answer, seconds = heard(connection)
    assert answer.startswith(said)
    assert seconds < 20


def test_a_head_that_comes_drop_by_drop_is_not_waited_for(hasty: Running) -> None:
    with hasty.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n")
        end = time.monotonic() + 20
        try:
            while time.monotonic() < end:
                connection.sendall(b"x-a: b\r\n")
                time.sleep(0.1)
        except OSError:
            return
    pytest.fail("it listened for twenty seconds")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-large: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
        b"GET /healthz HTTP/1.1\r\nx-endless: " + b"x" * 5_000_000,
    ],
)
def test_too_large_a_head_is_refused(server: Running, head: bytes) -> None:
    assert server.say(head)[:12] in (b"HTTP/1.1 400", b"")
    assert server.client.get("/healthz").status_code == 200


def test_a_large_head_behind_a_good_request_is_refused(server: Running) -> None:
    good = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    said = server.say(good + b"GET /healthz HTTP/1.1\r\nx: " + b"x" * 1_000_000)
    assert said.count(b"HTTP/1.1 200") <= 1
    assert b"HTTP/1.1 500" not in said


def test_so_many_connections_and_no_more(hasty: Running) -> None:
    held = [hasty.connect() for _ in range(40)]
    try:
        time.sleep(0.2)
        refused = 0
        for connection in held:
            connection.settimeout(0.01)
            try:
                refused += connection.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionResetError:
                refused += 1
        assert refused >= 15
    finally:
        for connection in held:
            connection.close()
    hasty.wait_for(lambda: _healthy(hasty))


def _healthy(server: Running) -> bool:
    try:
        return bool(httpx2.get(f"{server.url}/healthz").status_code == 200)
    except httpx2.TransportError:
        return False


def test_all_bodies_together_have_a_bound(hasty: Running) -> None:
    body = {"code": "#" * (1 << 20)}
    answer = httpx2.post(f"{hasty.url}/v1/execute", json=body)
    assert (answer.status_code, answer.json()["code"]) == (429, "busy")
    assert int(answer.headers["retry-after"]) >= 1
    assert httpx2.post(f"{hasty.url}/v1/execute", json={"code": "1"}).status_code == 200


def test_errors_have_no_tracebacks(server: Running) -> None:
    for path, body in (("/v1/grade", b"{"), ("/run_code", b"{"), ("/nope", b"")):
        answer = server.client.post(path, content=body, headers={"content-type": "application/json"})  # fmt: skip
        assert "Traceback" not in answer.text
        assert ".py" not in answer.text


def test_answers_say_little_about_the_server(server: Running) -> None:
    headers = server.client.get("/healthz").headers
    assert "server" not in headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
