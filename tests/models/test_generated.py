"""Models that are asked, through the commands: nothing lost, nothing twice, nobody blamed wrongly."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import ModelError
from proctor.models.generated import PREFETCH, GenerativeModel, awaited
from proctor.records.completion import Completion, Request, Sampling
from proctor.records.task import Assertions, Benchmark, Task
from tests.models.conftest import Handler, Server, drip, hang_up, prompt_of, raw, silence, status

Proctor = Callable[..., Any]
TASKS, EACH = 12, 2
RUN = ("run", "tasks.jsonl", "--model", "openai:m", "--n-samples", EACH, "--temperature", "0.8")


def rows(path: str) -> list[dict[str, Any]]:
    """Return the whole lines of a journal."""
    there = Path(path)
    texts = there.read_bytes().splitlines(keepends=True) if there.exists() else []
    return [json.loads(text) for text in texts if text.endswith(b"\n")]


def keys(path: str) -> Counter[tuple[str, int]]:
    return Counter((one["task_id"], one["sample"]) for one in rows(path))


EVERY = Counter((f"t/{n}", sample) for n in range(TASKS) for sample in range(EACH))


def number_in(body: dict[str, Any]) -> str:
    found = re.search(r"returns (\d+)", prompt_of(body))
    assert found is not None
    return found[1]


def right(handler: Handler) -> None:
    """Answer as the prompt wants it."""
    number = number_in(handler.body)
    text = f"```python\ndef f(x):\n    return {number}\n```\nseed {handler.body['seed']}"
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 7}
    handler.say(200, json.dumps({"choices": [choice], "usage": usage}).encode())


@pytest.fixture
def tasks(alone: Path, jsonl: Callable[..., Path], server: Server) -> Path:
    """Have a server that knows all answers."""
    server.always = right
    return jsonl(
        "tasks.jsonl",
        [
            {
                "task_id": f"t/{n}",
                "prompt": f"Write a function that returns {n}.",
                "entry_point": "f",
                "tests": {"kind": "assertions", "targets": [f"f(1) == {n}"]},
            }
            for n in range(TASKS)
        ],
    )


def test_asks_grades_and_writes_everything_down(
    proctor: Proctor, tasks: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-open")
    ran = proctor(*RUN, "--base-url", server.url, "--out", "run", "--k", "1,2", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert (found["passed"], found["samples"], found["cut_off"]) == (24, 24, 0)
    assert found["pass_at_k"]["2"]["value"] == 1.0
    assert keys("run/completions.jsonl") == keys("run/receipts.jsonl") == EVERY
    for one in rows("run/completions.jsonl"):
        assert one["id"] == f"{one['task_id'][2:]}_s{one['sample']}"
        assert one["completion"].endswith(f"seed {one['sample']}")
        assert (one["seed"], one["model"]) == (one["sample"], "openai:m")
        assert (one["prompt_tokens"], one["completion_tokens"]) == (9, 7)
        assert one["seconds"] > 0
        assert len(one["prompt_sha256"]) == 64
    assert server.headers[0]["authorization"] == "Bearer sesame-open"
    assert {body["top_k"] for body in server.bodies} == {40}
    for file in Path("run").iterdir():
        assert "sesame" not in file.read_text(), "a key is kept nowhere"


def test_a_server_with_every_fault_loses_and_doubles_nothing(
    proctor: Proctor, tasks: Path, server: Server
) -> None:
    server.plan = [
        status(429, retry_after="0.1"),
        status(500),
        hang_up,
        drip,
        raw(b"<html>"),
        silence,
    ]
    args = ("--base-url", server.url, "--out", "run", "--request-timeout", "1", "--json")
    ran = proctor(*RUN, *args)
    assert ran.status == 0, ran.err
    assert ran.err == "", "nothing is said of what went well in the end"
    assert json.loads(ran.out)["passed"] == TASKS * EACH
    assert keys("run/completions.jsonl") == keys("run/receipts.jsonl") == EVERY
    assert server.asked.total() == TASKS * EACH + 6


def test_an_answer_that_never_comes_is_unscored_and_one_that_is_cut_is_counted(
    proctor: Proctor, tasks: Path, server: Server
) -> None:
    choice = {"message": {"content": "```python\ndef f(x):"}, "finish_reason": "length"}
    cut = raw(json.dumps({"choices": [choice]}).encode())
    server.plan = [status(400), cut]
    args = ("--base-url", server.url, "--out", "run", "--concurrency", "1")
    ran = proctor(*RUN, *args, "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["degraded"]) == (1, True)
    assert (found["unscored"], found["cut_off"], found["cut_off_passed"]) == (1, 1, 0)
    assert (found["passed"], found["samples"]) == (22, 24)
    receipts = {(one["task_id"], one["sample"]): one for one in rows("run/receipts.jsonl")}
    assert receipts["t/0", 0]["outcome"] is None
    assert "400" in receipts["t/0", 0]["detail"]
    assert receipts["t/1", 0]["stop"] == "length"
    assert "  1 answers are cut off at --max-tokens\n" in proctor("report", "run").out


def test_a_server_that_is_gone(proctor: Proctor, tasks: Path, server: Server) -> None:
    """Nothing is written down of what it did not answer, so a later run asks again."""
    server.always = status(503, retry_after="0.01")
    args = ("--base-url", server.url, "--out", "run")
    ran = proctor(*RUN, *args)
    assert (ran.status, ran.out) == (3, "")
    assert ran.complaint.startswith("openai:m answers no more: http://127.0.0.1:")
    assert rows("run/completions.jsonl") == []
    server.always = right
    assert proctor(*RUN, *args).status == 0
    assert keys("run/receipts.jsonl") == EVERY


def kill_when(command: list[str], file: str, count: int) -> None:
    """Start a command, and kill all of it when a journal has so many lines."""
    with Path("said").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        while len(rows(file)) < count and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None, Path("said").read_text()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("command", "file"),
    [
        pytest.param(RUN, "run/completions.jsonl", id="run"),
        pytest.param(
            ("generate", *RUN[1:]), "answers.jsonl", marks=pytest.mark.slow, id="generate"
        ),
    ],
)
def test_after_a_kill_nothing_is_asked_twice(
    tasks: Path, server: Server, command: tuple[Any, ...], file: str
) -> None:
    def slow(handler: Handler) -> None:
        time.sleep(0.05)
        right(handler)

    server.always = slow
    out = "run" if command[0] == "run" else file
    more = ("--base-url", server.url, "--out", out, "--concurrency", 2)
    line = [sys.executable, "-m", "proctor", *map(str, (*command, *more))]
    for count in (3, 9, 15):
        kill_when(line, file, count)
        assert set(keys(file).values()) <= {1}
        with server.lock:
            server.bodies.clear()
        written = {(one["task_id"], one["seed"]) for one in rows(file)}
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert keys(file) == EVERY
    asked = [(f"t/{number_in(body)}", body["seed"]) for body in server.bodies]
    assert len(asked) == TASKS * EACH - len(written)
    assert not set(asked) & written
    if command[0] == "run":
        assert keys("run/receipts.jsonl") == EVERY


def test_other_weights_are_another_run(proctor: Proctor, tasks: Path, server: Server) -> None:
    args = ("--base-url", server.url, "--out", "run")
    assert proctor(*RUN, *args).status == 0
    said = proctor(*RUN, *args, "--max-tokens", "7").complaint
    assert said.startswith("run belongs to another run: its sampling.max_tokens is 1024, not 7; ")
    assert proctor(*RUN, *args, "--prompt-strategy", "scot").status == 2


# The thread that asks, and the one that grades


class Echo:
    name, chat = "echo", False

    def __init__(self, trouble: Exception | None = None) -> None:
        self.taken = 0
        self.trouble = trouble

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        for one in requests:
            self.taken += 1
            yield Completion(
                task_id=one.prompt.task_id, sample=one.sample, id=one.id, completion="x"
            )
        if self.trouble is not None:
            raise self.trouble

    def close(self) -> None:
        pass


def benchmark(count: int) -> Benchmark:
    tests = Assertions(targets=["f(1)"])
    return Benchmark(
        name="b",
        tasks=[Task(task_id=f"t/{n}", prompt="p" * 1000, tests=tests) for n in range(count)],
    )


def test_never_many_answers_wait() -> None:
    """However many prompts there are: what is asked for is what somebody takes."""
    echo = Echo()
    answers = GenerativeModel(echo, "standard", "plain").complete(
        benchmark(10_000), Sampling(), lambda _: True, threading.Event()
    )
    for _ in range(10):
        while next(answers) is None:
            pass
    time.sleep(0.05)
    assert echo.taken <= 10 + PREFETCH + 2
    assert sum(one is not None for one in answers) == 10_000 - 10


def test_trouble_comes_after_the_answers() -> None:
    echo = Echo(ModelError("gone"))
    answers = GenerativeModel(echo, "standard", "plain").complete(
        benchmark(3), Sampling(), lambda _: True, threading.Event()
    )
    found = []
    with pytest.raises(ModelError, match="gone"):
        found.extend(one for one in answers if one is not None)
    assert len(found) == 3


def test_a_moment_without_an_answer_is_told() -> None:
    release = threading.Event()

    def ask() -> Iterator[Completion]:
        release.wait(10)
        yield Completion(task_id="t", sample=0, id="0_s0", completion="x")

    answers = awaited(ask)
    assert next(answers) is None
    release.set()
    assert [one.completion for one in answers if one is not None] == ["x"]


# What a server refuses, told by the command


@pytest.mark.parametrize(
    ("fault", "status_", "said"),
    [
        (status(401), 2, "answers 401: error 401\\x1b[31m; is the key in OPENAI_API_KEY right?"),
        (status(404), 2, "answers 404: error 404\\x1b[31m; is that the right model and the right "),
    ],
    ids=["wrong key", "no such model"],
)
def test_what_a_server_refuses(
    proctor: Proctor, tasks: Path, server: Server, fault: Any, status_: int, said: str
) -> None:
    server.always = fault
    ran = proctor(*RUN, "--base-url", server.url)
    assert (ran.status, ran.out) == (status_, "")
    assert said in ran.complaint


def test_a_context_that_is_too_long_is_unscored_and_says_why(
    proctor: Proctor, tasks: Path, server: Server
) -> None:
    said = "This model's maximum context length is 2048 tokens"
    error = json.dumps({"error": {"message": said}}).encode()
    server.plan = [lambda handler: handler.say(400, error)]
    ran = proctor(*RUN, "--base-url", server.url, "--out", "run", "--concurrency", "1", "--json")
    assert (ran.status, json.loads(ran.out)["unscored"]) == (1, 1)
    details = [one["detail"] for one in rows("run/receipts.jsonl") if one["outcome"] is None]
    assert len(details) == 1
    assert said in details[0]
