"""Measurements measure: rows for every concurrency, with numbers that fit together."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from proctor.errors import ModelError
from proctor.measure.throughput import Throughput, measure_throughput
from proctor.models.command import Command
from proctor.models.http import ServedModel
from proctor.models.openai import OpenAI
from proctor.models.providers import Provider
from proctor.records.prompt import Prompt
from tests.models.checkpoints import save_known_bad
from tests.models.conftest import Handler, Server, good, status
from tests.models.conftest import server as _server

server = _server
Open = Callable[[int | None], AbstractContextManager[Provider]]


def prompts(_: bool) -> Sequence[Prompt]:
    return [
        Prompt(task_id=f"t/{n}", text=f"def f{n}", turns=[("user", f"def f{n}")]) for n in range(3)
    ]


def behind(server: Server) -> Open:
    @contextmanager
    def open_with(size: int | None) -> Iterator[Provider]:
        served_model = ServedModel(max_in_flight=size or 1, seconds=2.0, first_wait_seconds=0.01)
        yield OpenAI("m", url=server.url, key=None, chat=True, served_model=served_model)

    return open_with


def check(row: Throughput) -> None:
    answered = row.prompts - row.unanswered
    # what is rounded to four places may be off by as much
    assert row.prompts_per_second == pytest.approx(answered / row.seconds, rel=0.05)
    assert row.answer_p50_seconds <= row.answer_p95_seconds <= row.seconds + 1e-3
    if row.first_token_p50_seconds is not None:
        assert row.first_token_p95_seconds is not None
        assert 0 <= row.first_token_p50_seconds <= row.first_token_p95_seconds


def test_a_server(server: Server) -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def watch(handler: Handler) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.02)
        with lock:
            running -= 1
        good(handler)

    server.always = watch
    rows = []
    for row in measure_throughput(behind(server), prompts, [1, 3], 7, 5):
        assert most == row.at_once
        check(row)
        rows.append(row)
    assert [row.at_once for row in rows] == [1, 3]
    for row in rows:
        assert (row.prompts, row.unanswered) == (7, 0)
        assert (row.completion_tokens, row.prompt_tokens) == (14, 21)
        assert row.first_token_p50_seconds is not None
        assert row.first_token_p50_seconds >= 0.02
        assert (row.load_seconds, row.memory_mib, row.gpu_memory_mib) == (None, None, None)
    assert [body["max_tokens"] for body in server.bodies[:9]] == [1] * 8 + [5]


def test_answers_that_are_missing_do_not_count(server: Server) -> None:
    server.plan = [good, good, good, good, status(400), good, good]
    (row,) = measure_throughput(behind(server), prompts, [1], 3, 5)
    assert (row.prompts, row.unanswered, row.completion_tokens) == (3, 1, 4)
    check(row)


def test_no_answer_is_no_measurement(server: Server) -> None:
    server.always = status(400)
    with pytest.raises(ModelError, match=r"openai:m answers nothing: .* 400"):
        list(measure_throughput(behind(server), prompts, [1], 3, 5))


def test_a_checkpoint(tmp_path: Path) -> None:
    import torch

    from proctor.models.transformers import Transformers

    torch.set_num_threads(1)
    save_known_bad(tmp_path, ["def f0123"])

    @contextmanager
    def open_with(size: int | None) -> Iterator[Provider]:
        model = Transformers(tmp_path, chat=None, batch_size=size, device="cpu")
        yield model
        model.close()

    rows = list(measure_throughput(open_with, prompts, [1, 2], 4, 6))
    for row in rows:
        check(row)
        assert row.load_seconds is not None
        assert row.load_seconds > 0
        assert row.completion_tokens is not None
        assert 4 <= row.completion_tokens <= 24
        assert row.tokens_per_second == pytest.approx(row.completion_tokens / row.seconds, rel=0.05)
        assert row.prompt_tokens == 4 * len("def f0")
        assert row.gpu_memory_mib is None
        if Path("/proc/self/status").exists():
            assert row.memory_mib is not None
            assert row.memory_mib > 50


def test_a_program(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    one = json.loads(line)\n"
        "    print(json.dumps({'task_id': one['task_id'], 'text': 'x'}), flush=True)\n"
    )

    @contextmanager
    def open_with(size: int | None) -> Iterator[Provider]:
        assert size is None
        yield Command(f"{sys.executable} {file}", chat=None, batch=True)

    (row,) = measure_throughput(open_with, prompts, [None], 5, 6)
    check(row)
    assert (row.at_once, row.tokens_per_second, row.first_token_p50_seconds) == (None, None, None)
    assert row.memory_mib is not None
    assert row.memory_mib > 1
