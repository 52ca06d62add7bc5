"""The native API, over a real server."""

import base64
import json
from typing import Any

import pytest

Running = Any
"""The server of conftest.py."""
Answer = dict[str, Any]
ADD = {
    "task_id": "add",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "add(0, 0) == 0"]},
}
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 1\n"


def refused(answer: Any) -> tuple[int, str]:
    said = answer.json()
    assert set(said) == {"code", "detail", "request_id"}
    assert said["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, said["code"]


def test_one_completion_is_judged(server: Running) -> None:
    answer = server.client.post("/v1/grade", json={"task": ADD, "completion": RIGHT})
    assert answer.status_code == 200
    [receipt] = answer.json()["receipts"]
    assert (receipt["outcome"], receipt["score"], receipt["task_id"]) == ("pass", 1.0, "add")
    assert answer.json()["task_id"] == "add"


@pytest.mark.parametrize("path", ["/v1/grade", "/healthz", "/run_code", "/api/v2/execute"])
def test_options_request_lists_the_methods_of_a_path(server: Running, path: str) -> None:
    answer = server.client.request("OPTIONS", path)
    assert answer.status_code == 204
    assert {"OPTIONS"} < set(answer.headers["allow"].split(", ")) < {"OPTIONS", "GET", "POST"}


def test_many_completions_are_judged_in_order(server: Running) -> None:
    texts = [f"{RIGHT}# {i}" if i % 3 else f"{WRONG}# {i}" for i in range(20)]
    answer = server.client.post("/v1/grade", json={"task": ADD, "completions": texts})
    receipts = answer.json()["receipts"]
    assert [receipt["sample"] for receipt in receipts] == list(range(20))
    assert [receipt["outcome"] == "pass" for receipt in receipts] == [
        bool(i % 3) for i in range(20)
    ]


def test_a_task_of_a_benchmark_is_named(server: Running) -> None:
    body = {"benchmark": "basics", "task_id": "basics/add", "completion": RIGHT}
    assert server.client.post("/v1/grade", json=body).json()["receipts"][0]["outcome"] == "pass"


def test_a_task_whose_reference_fails_judges_nobody(server: Running) -> None:
    task = {**ADD, "canonical_solution": WRONG}
    answer = server.client.post("/v1/grade", json={"task": task, "completion": WRONG})
    [receipt] = answer.json()["receipts"]
    assert (receipt["outcome"], receipt["bucket"], receipt["score"]) == (None, "benchmark", None)


def test_options_are_heeded(server: Running) -> None:
    slow = "import time\ntime.sleep(2)\n" + RIGHT
    body = {"task": ADD, "completion": slow, "options": {"timeout_s": 0.5}}
    receipt = server.client.post("/v1/grade", json=body).json()["receipts"][0]
    assert receipt["outcome"] == "timeout"
    assert receipt["limits"]["wall_seconds"] == 0.5


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "give completion"),
        ({"completion": "x"}, "give task"),
        ({"completion": "x", "completions": ["y"], "task": ADD}, "give completion"),
        ({"completions": [], "task": ADD}, "completions"),
        ({"completions": ["x"] * 2000, "task": ADD}, "completions"),
        ({"completion": "x", "task": ADD, "task_id": "y"}, "not both"),
        ({"completion": "x", "benchmark": "basics"}, "give task"),
        ({"completion": "x", "benchmark": "basics", "task_id": "nope"}, "nope"),
        ({"completion": "x", "benchmark": "/etc/passwd", "task_id": "x"}, "known are"),
        ({"completion": "x", "benchmark": "../tasks.jsonl", "task_id": "x"}, "known are"),
        ({"completion": 5, "task": ADD}, "completion"),
        ({"completion": "x", "task": {"task_id": "x"}}, "task: field tests"),
        ({"completion": "x", "task": {**ADD, "tests": {"kind": "nope"}}}, "tests"),
        ({"completion": "x", "task": ADD, "nonsense": 1}, "nonsense"),
        ({"completion": "x", "task": ADD, "options": {"timeout_s": 4000}}, "at most 300"),
        ({"completion": "x", "task": ADD, "options": {"timeout_s": -1}}, "timeout_s"),
        ({"completion": "x", "task": ADD, "options": {"memory_bytes": 1 << 60}}, "memory_bytes"),
        ({"completion": "x", "task": ADD, "options": {"compare": "nope"}}, "options.compare"),
        ({"completion": "x", "task": {**ADD, "metadata": {"timeout_s": 31}}}, "timeout_s"),
    ],
)
def test_what_is_wrong_with_a_request_to_grade_is_said(
    server: Running, body: Answer, word: str
) -> None:
    answer = server.client.post("/v1/grade", json=body)
    assert refused(answer) == (422, "invalid")
    assert word in answer.json()["detail"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 422),
        (b"", "application/json", 422),
        (b"\xff\xfe", "application/json", 422),
        (b"[" * 5000 + b"]" * 5000, "application/json", 422),
        (b'{"code": "1", "stdin": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}", "application/json", 422),
        (b'{"code": "print(1)"}', "text/plain", 415),
        (b'{"code": "print(1)"}', "multipart/form-data", 415),
    ],
)  # fmt: skip
def test_bodies_that_are_none(server: Running, content: bytes, kind: str, status: int) -> None:
    answer = server.client.post("/v1/execute", content=content, headers={"content-type": kind})
    assert refused(answer)[0] == status


def test_a_program_is_run(server: Running) -> None:
    code = "import sys\nprint(input(), sys.argv[1:])\nsys.exit(3)"
    answer = server.execute(code, stdin="hello\n", args=["a", "ü"]).json()
    assert answer["ending"] == {"type": "exited", "code": 3}
    assert (answer["exit_code"], answer["signal"]) == (3, None)
    assert answer["stdout"] == "hello ['a', 'ü']\n"
    assert answer["usage"]["cpu_seconds"] > 0


def test_files_go_in_and_come_out(server: Running) -> None:
    code = "text = open('data/in.txt').read()\nopen('out.bin', 'wb').write(text.encode() * 2)"
    given = {"data/in.txt": base64.b64encode(b"abc").decode()}
    answer = server.execute(code, files=given, fetch_files=["out.bin", "nope"]).json()
    assert base64.b64decode(answer["files"]["out.bin"]) == b"abcabc"
    assert list(answer["missing"]) == ["nope"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", "a\0b"])
@pytest.mark.parametrize("field", ["files", "fetch_files"])
def test_no_path_leads_out(server: Running, path: str, field: str) -> None:
    more = {"files": {path: ""}} if field == "files" else {"fetch_files": [path]}
    assert refused(server.execute("print(1)", **more)) == (422, "invalid")


def test_limits_are_heeded(server: Running) -> None:
    endless = server.execute("while True: pass", limits={"cpu_seconds": 0.5, "wall_seconds": 0.5})
    assert endless.json()["ending"] == {"type": "timed_out", "clock": "cpu"}
    long = server.execute("print('x' * 10000)", limits={"output_bytes": 100}).json()
    assert (long["ending"]["type"], len(long["stdout"]), long["truncated"]) == (
        "output_too_long",
        100,
        True,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"language": "cobol"},
        {"limits": {"cpu_seconds": 301}},
        {"limits": {"wall_seconds": 0}},
        {"limits": {"memory_bytes": 1 << 60}},
        {"limits": {"nonsense": 1}},
        {"files": {"a": "not base64!"}},
        {"args": ["a\0b"]},
        {"args": ["x"] * 300},
        {"stdin": 5},
        {"fetch_files": ["x"] * 100},
    ],
)
def test_what_is_wrong_with_a_request_to_execute_is_said(server: Running, more: Answer) -> None:
    assert refused(server.execute("print(1)", **more)) == (422, "invalid")


def test_half_a_pair_of_surrogates_is_no_defect(server: Running) -> None:
    body = b'{"code": "print(ascii(input()))", "stdin": "\\ud800"}'
    kind = {"content-type": "application/json"}
    answer = server.client.post("/v1/execute", content=body, headers=kind)
    assert answer.status_code in (200, 422)


def test_a_deadline_is_a_deadline(server: Running) -> None:
    answer = server.execute("while True: pass", deadline_seconds=0.5, limits={"cpu_seconds": 60, "wall_seconds": 60})  # fmt: skip
    assert refused(answer) == (504, "deadline")
    server.wait_for(lambda: server.metrics()["proctor_workers_busy"] == 0)


def test_benchmarks_and_tasks_can_be_looked_up(server: Running) -> None:
    known = {one["name"]: one for one in server.client.get("/v1/benchmarks").json()}
    assert known["basics"]["available"]
    tasks = server.client.get("/v1/benchmarks/basics").json()
    assert len(tasks["task_ids"]) == known["basics"]["tasks"]
    task = server.client.get("/v1/tasks/basics/add", params={"benchmark": "basics"}).json()
    assert task["entry_point"] == "add"
    assert server.client.get("/v1/tasks/basics/add").json() == task


def test_tests_and_solutions_are_not_shown(server: Running) -> None:
    answer = server.client.get("/v1/tasks/basics/add", params={"benchmark": "basics"})
    assert not {"tests", "canonical_solution", "wrong_solutions"} & set(answer.json())
    assert "return a + b" not in answer.text
    more = server.client.get("/v1/tasks/basics/add", params={"benchmark": "basics", "tests": "true"})  # fmt: skip
    assert refused(more) == (403, "scope")


@pytest.mark.parametrize(
    "path",
    ["/v1/benchmarks/nope", "/v1/benchmarks/..%2f..%2fetc", "/v1/tasks/nope?benchmark=basics",
     "/v1/tasks/nope?benchmark=/etc/passwd", "/v1/tasks/x", "/nope", "/v1/", "/..%2f..%2fetc/passwd"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(server: Running, path: str) -> None:
    assert refused(server.client.get(path)) == (404, "not_found")


def test_methods_that_are_not_offered(server: Running) -> None:
    for method, path in (("GET", "/v1/grade"), ("DELETE", "/v1/execute"), ("PUT", "/healthz")):
        assert server.client.request(method, path).status_code == 405


def test_health(server: Running) -> None:
    assert server.client.get("/healthz").json() == {"status": "ok"}
    assert server.client.get("/readyz").json() == {"status": "ready"}


def test_a_stream_is_answered_line_by_line(server: Running) -> None:
    lines = [
        *({"task": ADD, "completion": f"{RIGHT}# {i}", "id": f"good {i}"} for i in range(20)),
        *({"task": ADD, "completion": f"{WRONG}# {i}", "id": f"bad {i}"} for i in range(20)),
        {"task": ADD, "completions": ["x", "y"], "id": "two"},
        {"nonsense": 1},
    ]
    content = b"\n\n".join(json.dumps(line).encode() for line in lines) + b"\nno JSON"
    kind = {"content-type": "application/x-ndjson"}
    with server.client.stream("POST", "/v1/grade/batch", content=content, headers=kind) as answer:
        assert answer.status_code == 200
        got = {one["id"]: one for one in map(json.loads, answer.iter_lines())}
    assert len(got) == len(lines) + 1
    for name, one in got.items():
        if str(name).startswith("good"):
            assert one["receipt"]["outcome"] == "pass"
        elif str(name).startswith("bad"):
            assert one["receipt"]["outcome"] == "assertion_fail"
        else:
            assert one["error"]["code"] == "invalid"
    assert {"two", 41, 42} <= set(got)


def test_a_stream_must_say_that_it_is_one(server: Running) -> None:
    kind = {"content-type": "application/json"}
    assert refused(server.client.post("/v1/grade/batch", content=b"", headers=kind))[0] == 415
    assert refused(server.client.get("/v1/grade/batch"))[0] == 405


def test_an_empty_stream_has_an_empty_answer(server: Running) -> None:
    kind = {"content-type": "application/x-ndjson"}
    answer = server.client.post("/v1/grade/batch", content=b"\n\n", headers=kind)
    assert (answer.status_code, answer.content) == (200, b"")


def test_metrics_count_what_happens(server: Running) -> None:
    before = server.metrics()
    server.client.post("/v1/grade", json={"task": ADD, "completion": RIGHT})
    server.execute("print(1)")
    server.client.get("/nope")
    after = server.metrics()

    def more(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert more('proctor_samples_total{outcome="pass",bucket="passed"}') == 1
    assert more('proctor_executions_total{ending="exited"}') == 1
    assert more('proctor_requests_total{method="POST",route="/v1/grade",status="200"}') == 1
    assert more('proctor_requests_total{method="GET",route="other",status="404"}') == 1
    assert more('proctor_request_seconds_count{route="/v1/execute"}') == 1
    assert after["proctor_workers"] == 2
    assert after["proctor_unscored_total"] == before["proctor_unscored_total"]
    assert after["proctor_queue_waiting"] == 0
