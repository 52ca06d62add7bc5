"""Sessions over HTTP: cells, files, errors, and what is left of them."""

import base64
import threading
from pathlib import Path

import pytest

from proctor.server.keys import new_key, write_keys


@pytest.fixture
def session(server):
    name = server.client.post("/v1/sessions", json={}).json()["id"]
    yield name
    server.client.delete(f"/v1/sessions/{name}")


@pytest.fixture
def run(server, session):
    def post(code, **more):
        return server.client.post(f"/v1/sessions/{session}/execute", json={"code": code, **more})

    return post


def test_state_is_kept(run):
    assert run("x = 20").json() == {
        "stdout": "",
        "stderr": "",
        "display": [],
        "error": None,
        "ending": None,
        "alive": True,
        "truncated": False,
        "files": {},
        "missing": {},
        "seconds": pytest.approx(0, abs=20),
    }
    answer = run("import sys\nprint('a'); print('b', file=sys.stderr)\nx + 1").json()
    assert (answer["stdout"], answer["stderr"]) == ("a\n", "b\n")
    assert answer["display"] == [{"text/plain": "21"}]


def test_an_error_has_a_traceback(run):
    error = run("x = 1\nassert x == 2, 'no'").json()["error"]
    assert (error["ename"], error["evalue"]) == ("AssertionError", "no")
    assert error["traceback"][0].startswith("Traceback")
    assert error["traceback"][-1] == "AssertionError: no"


def test_files_in_and_out(server, run):
    content = base64.b64encode(b"\x00\x01").decode()
    code = "open('b', 'wb').write(open('d/a', 'rb').read()[::-1])"
    answer = run(code, files={"d/a": content}, fetch_files=["b", "none"]).json()
    assert base64.b64decode(answer["files"]["b"]) == b"\x01\x00"
    assert answer["missing"] == {"none": "there is no such file"}
    for more in ({"files": {"../x": content}}, {"fetch_files": ["/etc/passwd"]}):
        refused = run("1", **more)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    opened = server.client.post("/v1/sessions", json={"files": {"in": content}}).json()["id"]
    answer = server.client.post(
        f"/v1/sessions/{opened}/execute", json={"code": "open('in', 'rb').read()"}
    )
    assert answer.json()["display"] == [{"text/plain": "b'\\x00\\x01'"}]
    server.client.delete(f"/v1/sessions/{opened}")


def test_a_cell_out_of_time_leaves_the_rest(run):
    run("x = 1")
    answer = run("while True: pass", timeout_s=0.5).json()
    assert (answer["alive"], answer["ending"]["type"]) == (True, "timed_out")
    assert answer["error"]["ename"] == "KeyboardInterrupt"
    assert run("x").json()["display"] == [{"text/plain": "1"}]
    assert run("x", timeout_s=10_000).status_code == 422


def test_what_ends_the_process_ends_the_session(server, session, run):
    answer = run("import os; print('last', flush=True); os._exit(4)").json()
    assert (answer["alive"], answer["stdout"]) == (False, "last\n")
    assert answer["ending"] == {"type": "exited", "code": 4}
    assert run("1").status_code == 404
    assert session not in [one["id"] for one in listed(server)]


def listed(server):
    return server.client.get("/v1/sessions").json()["sessions"]


def test_opened_listed_and_closed(server):
    about = server.client.post("/v1/sessions", json={"idle_seconds": 5}).json()
    assert about == {"id": about["id"], "idle_seconds": 5.0, "cells": 0}
    path = f"/v1/sessions/{about['id']}"
    server.client.post(f"{path}/execute", json={"code": "1"})
    assert {**about, "cells": 1} in listed(server)
    assert server.client.delete(path).json()["cells"] == 1
    assert server.client.delete(path).status_code == 404
    assert server.client.post(f"{path}/execute", json={"code": "1"}).status_code == 404


def test_one_cell_at_a_time(server, session, run):
    thread = threading.Thread(target=run, args=["import time; time.sleep(3)"])
    thread.start()
    server.wait_for(lambda: any(one["cells"] for one in listed(server) if one["id"] == session))
    assert run("1").status_code == 409
    thread.join()
    assert run("1").status_code == 200


def test_closing_ends_what_runs(server, session, run):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(run("import time; time.sleep(60)")))
    thread.start()
    server.wait_for(lambda: any(one["cells"] for one in listed(server) if one["id"] == session))
    server.client.delete(f"/v1/sessions/{session}")
    thread.join(20)
    assert answers[0].status_code == 503


def test_sessions_need_a_key_of_their_own(serve, tmp_path):
    made = [new_key(name, ["execute"]) for name in ("a", "b")]
    write_keys(tmp_path / "keys", [key for _, key in made])
    first, second = ({"authorization": f"Bearer {secret}"} for secret, _ in made)
    server = serve(
        "--workers", "1", "--keys", str(tmp_path / "keys"), bounds={"sessions_of_one": 1}
    )
    name = server.client.post("/v1/sessions", json={}, headers=first).json()["id"]
    refused = server.client.post("/v1/sessions", json={}, headers=first)
    assert (refused.status_code, refused.json()["code"]) == (429, "sessions")
    path = f"/v1/sessions/{name}/execute"
    assert server.client.post(path, json={"code": "1"}, headers=second).status_code == 404
    assert server.client.post(path, json={"code": "1"}, headers=first).status_code == 200
    assert server.client.post("/v1/sessions", json={}, headers=second).status_code == 200
    assert server.client.post("/v1/sessions", json={}).status_code == 401


def test_nothing_is_left_of_a_service_with_open_sessions(serve, processes_below):
    server = serve("--workers", "1")
    for _ in range(3):
        server.client.post("/v1/sessions", json={})
    assert server.metrics()["proctor_sessions"] == 3
    below = processes_below(server.pid)
    assert server.stop() == 0
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]


def test_a_service_has_descriptors_for_many_sessions(server):
    lines = Path(f"/proc/{server.pid}/limits").read_text().splitlines()
    soft, hard = next(line.split()[3:5] for line in lines if line.startswith("Max open files"))
    assert int(soft) == min(int(hard), 1 << 16) or int(soft) > 1 << 16
