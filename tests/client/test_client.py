"""The clients: against a real service, and against one that is busy, breaks off or talks nonsense."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.benchmarks import load
from proctor.client import requests
from proctor.errors import InputError, ServiceError
from proctor.integrations import trainers
from proctor.records.limits import Limits
from proctor.records.verdict import Outcome
from proctor.sandbox.tiers.select import open_sandbox
from proctor.server.app import application
from proctor.server.connection import Server, listen
from proctor.server.service import Service

ADD = {
    "task_id": "add",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
}
RIGHT, WRONG = "def add(a, b): return a + b", "def add(a, b): return 1"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve on a thread of this process."""
    import sys

    import uvicorn

    service = Service(open_sandbox("auto", sys.executable), workers=2)
    with listen("127.0.0.1", 0) as socket:
        config = uvicorn.Config(application(service), lifespan="off", log_level="critical")
        server = Server(config, service)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
        server.should_exit = True
        thread.join()
    service.close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait, but not for long."""
    monkeypatch.setattr(requests, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(requests, "MAX_PAUSE", 0.01)


def test_completions_are_graded(url: str) -> None:
    with proctor.Client(url) as client:
        assert client.grade(ADD, RIGHT).outcome is Outcome.PASS
        group = client.grade_group(ADD, [RIGHT, WRONG, RIGHT])
        assert [receipt.score for receipt in group] == [1.0, 0.0, 1.0]
        assert client.grade(("basics", "basics/add"), RIGHT).task_id == "basics/add"
        slow = client.grade(ADD, "while True: pass", timeout_s=0.3, deadline_seconds=60)
        assert slow.outcome is Outcome.TIMEOUT


def test_a_receipt_is_that_of_this_process(url: str) -> None:
    """Where a sample is judged makes no difference."""
    for task in load("basics").tasks[:12]:
        solution = task.canonical_solution or ""
        here = proctor.grade(task, solution)
        with proctor.Client(url) as client:
            there = client.grade(task, solution)
        assert there.task_sha256 == here.task_sha256
        assert (there.outcome, there.bucket, there.judged) == (
            here.outcome,
            here.bucket,
            here.judged,
        )
        assert [test.passed for test in there.tests] == [test.passed for test in here.tests]


def test_programs_are_run(url: str) -> None:
    with proctor.Client(url) as client:
        ran = client.execute(
            "print(input(), open('a').read()); open('b', 'w').write('!')",
            "hi",
            files={"a": b"there"},
            fetch_files=["b"],
            limits=Limits(wall_seconds=2.0),
        )
        assert (ran.stdout, ran.exit_code, ran.files) == ("hi there\n", 0, {"b": "IQ=="})


def test_a_stream_is_graded(url: str) -> None:
    samples = [(ADD, f"{RIGHT if i % 2 else WRONG} # {i}") for i in range(300)]
    with proctor.Client(url) as client:
        got = dict(client.grade_stream(iter(samples)))
    assert sorted(got) == list(range(300))
    assert all((got[i].outcome is Outcome.PASS) == bool(i % 2) for i in range(300))


def test_benchmarks_and_tasks(url: str) -> None:
    with proctor.Client(url) as client:
        assert any(one["name"] == "basics" for one in client.benchmarks())
        assert client.task("basics", "basics/add")["entry_point"] == "add"
        with pytest.raises(InputError, match="scope tests"):
            client.task("basics", "basics/add", tests=True)


def test_all_of_it_from_asyncio(url: str) -> None:
    async def check() -> None:
        async with proctor.AsyncClient(url) as client:
            receipts = await asyncio.gather(*(client.grade(ADD, RIGHT) for _ in range(5)))
            assert {receipt.outcome for receipt in receipts} == {Outcome.PASS}
            assert len(await client.grade_group(ADD, [RIGHT, WRONG])) == 2
            got = {number async for number, _ in client.grade_stream([(ADD, RIGHT)] * 7)}
            assert got == set(range(7))
            assert (await client.execute("print(1)")).stdout == "1\n"
            assert await client.benchmarks()
            assert (await client.task("basics", "basics/add"))["language"] == "python"

    asyncio.run(check())


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"task_id": "x"}, "tests"),
        (("nope", "x"), "known are"),
        ({**ADD, "tests": {1, 2}}, "tests"),
    ],
)
def test_what_the_service_refuses_is_the_callers_fault(url: str, task: Any, said: str) -> None:
    with proctor.Client(url) as client, pytest.raises(InputError, match=said):
        client.grade(task, RIGHT)
    with proctor.Client(url) as client, pytest.raises(InputError, match=said):
        list(client.grade_stream([(task, RIGHT)]))


def test_an_address_that_is_none() -> None:
    with pytest.raises(InputError, match="begins with http"):
        proctor.Client("localhost:8080")


Script = Callable[[BaseHTTPRequestHandler, bytes, int], None]


@pytest.fixture
def play() -> Iterator[Callable[[Script], str]]:
    """Return a function that serves by a script, which is told how often it was asked."""
    servers: list[ThreadingHTTPServer] = []

    def start(script: Script) -> str:
        times = iter(range(10**6))

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                script(self, body, next(times))

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {**headers, "content-length": str(len(text))}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(text)


EXECUTED = {
    "ending": {"type": "exited", "code": 0},
    "exit_code": 0,
    "signal": None,
    "stdout": "1\n",
    "stderr": "",
    "truncated": False,
    "compiled": True,
    "usage": {},
}


def test_who_is_told_to_come_again_does(play: Callable[[Script], str]) -> None:
    def script(handler: BaseHTTPRequestHandler, body: bytes, times: int) -> None:
        match times:
            case 0 | 1:
                reply(
                    handler, 429, {"code": "busy", "detail": "", "request_id": ""}, retry_after="1"
                )
            case 2:
                reply(handler, 503, b"a proxy says so")
            case 3:
                handler.connection.close()
            case _:
                reply(handler, 200, EXECUTED)

    with proctor.Client(play(script)) as client:
        assert client.execute("print(1)").stdout == "1\n"


def test_but_not_for_ever(play: Callable[[Script], str]) -> None:
    asked = []

    def script(handler: BaseHTTPRequestHandler, body: bytes, times: int) -> None:
        asked.append(times)
        reply(handler, 503, {"code": "sandbox", "detail": "no box", "request_id": "7"})

    with proctor.Client(play(script)) as client, pytest.raises(ServiceError, match="no box"):
        client.execute("print(1)")
    assert len(asked) == requests.ATTEMPTS


def test_nobody_there_is_said() -> None:
    with proctor.Client("http://127.0.0.1:9") as client, pytest.raises(ServiceError):
        client.execute("print(1)")


def test_a_defect_is_not_asked_for_again(play: Callable[[Script], str]) -> None:
    asked = []

    def script(handler: BaseHTTPRequestHandler, body: bytes, times: int) -> None:
        asked.append(times)
        reply(handler, 500, {"code": "defect", "detail": "oh", "request_id": "7"})

    with proctor.Client(play(script)) as client, pytest.raises(ServiceError, match="oh"):
        client.execute("print(1)")
    assert asked == [0]


def test_of_a_stream_that_breaks_off_only_the_rest_is_sent_again(
    url: str, play: Callable[[Script], str]
) -> None:
    """The first answer has half of the lines, the second an excuse, the third the rest."""
    with proctor.Client(url) as client:
        receipt = json.loads(
            client._http.post("/v1/grade", json={"task": ADD, "completion": RIGHT}).content
        )["receipts"][0]
    sent: list[list[int]] = []

    def script(handler: BaseHTTPRequestHandler, body: bytes, times: int) -> None:
        ids = [json.loads(line)["id"] for line in body.splitlines()]
        sent.append(ids)
        if times == 1:
            reply(handler, 429, {"code": "busy", "detail": "", "request_id": ""}, retry_after="1")
            return
        answered = ids[: len(ids) // 2] if times == 0 else ids
        lines = [json.dumps({"id": one, "receipt": receipt}) for one in answered]
        if times == 2:
            lines[0] = json.dumps({"id": ids[0], "error": {"code": "busy", "detail": "later"}})
        reply(handler, 200, "\n".join(lines).encode())

    with proctor.Client(play(script)) as client:
        got = [number for number, _ in client.grade_stream([(ADD, RIGHT)] * 10)]
    assert sorted(got) == list(range(10))
    assert [len(ids) for ids in sent] == [10, 5, 5, 1]


def test_rewards_by_url(url: str, tmp_path: Path) -> None:
    truth = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
    right = "```python\nprint(sum(map(int, input().split())))\n```"
    assert trainers.verl_score("mine", right, truth, url=url) == 1.0
    assert trainers.verl_score("basics", RIGHT, "basics/add", url=url) == 1.0
    scores = trainers.verl_scores(["m"] * 3, [right, "print(3)", "no"], [truth] * 3, url=url)
    assert scores == [1.0, 0.5, 0.0]
    given = trainers.trl_reward(
        ["", ""], [RIGHT, WRONG], assertions=[["add(1, 2) == 3"]] * 2, url=url
    )
    assert given == [1.0, 0.0]
    rubric = trainers.rubric_reward(right, answer=truth, url=url)
    assert asyncio.run(rubric) == 1.0
