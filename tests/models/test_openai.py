"""The openai provider against a server that misbehaves in every way we know of."""

import json
import threading
from collections.abc import Iterator

import pytest

from proctor.errors import InputError, ModelError
from proctor.models.http import ServedModel
from proctor.models.openai import OpenAI
from proctor.records.completion import Completion, Request, Sampling, StopReason
from proctor.records.prompt import Prompt
from tests.models.conftest import Server, drip, good, hang_up, raw, silence, status

FAST = ServedModel(max_in_flight=4, seconds=0.7, first_wait_seconds=0.01)


def requests(count: int) -> Iterator[Request]:
    for index in range(count):
        text = f"prompt {index}"
        prompt = Prompt(task_id=f"t/{index}", text=text, turns=[("user", text)])
        yield Request(prompt=prompt, sample=0, id=f"{index}_s0", seed=index)


def ask(
    server: Server, count: int, *, chat: bool | None = None, served_model: ServedModel = FAST
) -> list[Completion]:
    model = OpenAI("m", url=server.url, key="sesame", chat=chat, served_model=served_model)
    try:
        return list(model.answer(requests(count), Sampling(), threading.Event()))
    finally:
        model.close()


@pytest.mark.parametrize("chat", [True, False])
def test_answers_with_all_that_is_known_of_them(server: Server, chat: bool) -> None:
    (said,) = ask(server, 1, chat=chat)
    assert said.completion == "echo prompt 0"
    assert (said.task_id, said.id, said.seed, said.stop) == ("t/0", "0_s0", 0, StopReason.STOP)
    assert (said.prompt_tokens, said.completion_tokens, said.model) == (3, 2, "openai:m")
    assert said.seconds is not None


def test_asks_as_the_protocol_wants_it(server: Server) -> None:
    model = OpenAI("m", url=server.url, key="sesame", chat=True, served_model=FAST)
    sampling = Sampling(temperature=0.8, top_p=0.9, max_tokens=7)
    list(model.answer(requests(1), sampling, threading.Event()))
    assert server.bodies[0] == {
        "model": "m",
        "messages": [{"role": "user", "content": "prompt 0"}],
        "max_tokens": 7,
        "temperature": 0.8,
        "top_p": 0.9,
        "top_k": 40,
        "seed": 0,
    }
    assert server.headers[0]["authorization"] == "Bearer sesame"


FAULTS = {
    "too many requests": status(429, retry_after="0.01"),
    "later, by date": status(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "our fault": status(500),
    "a gateway": status(502),
    "hangs up": hang_up,
    "slow bytes": drip,
    "says nothing": silence,
    "not JSON": raw(b"<html>oops</html>"),
    "not an object": raw(b"[1]"),
    "no choices": raw(b'{"choices": []}'),
    "a number for a text": raw(b'{"choices": [{"text": 5}]}'),
    "deep": raw(b"[" * 100_000),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_loses_and_doubles_nothing(server: Server, fault: object) -> None:
    server.plan = [good, fault, good, fault]  # type: ignore[list-item]
    said = ask(server, 6)
    assert sorted(one.completion for one in said) == [f"echo prompt {n}" for n in range(6)]
    assert len({(one.task_id, one.sample) for one in said}) == 6
    assert server.asked.total() == 8


def test_all_faults_at_once(server: Server) -> None:
    server.plan = [behaviour for fault in FAULTS.values() for behaviour in (fault, good)]
    said = ask(server, 30)
    assert sorted(one.task_id for one in said) == sorted(f"t/{n}" for n in range(30))
    assert all(one.completion.startswith("echo") for one in said)


def test_a_prompt_that_is_refused_is_unanswered_and_the_others_are_not(server: Server) -> None:
    server.plan = [status(400)]
    said = ask(server, 3)
    failed = [one for one in said if one.stop is StopReason.ERROR]
    assert len(failed) == 1
    assert "400" in failed[0].more["error"]
    assert server.asked.total() == 3, "asked once, since asking again would not help"


def test_a_server_that_is_gone_is_told_in_a_sentence(server: Server) -> None:
    server.always = status(500)
    with pytest.raises(ModelError, match=r"openai:m answers no more: .* 500"):
        ask(server, 50)
    assert server.asked.total() < 100, "not all prompts were tried"


def test_a_few_prompts_and_no_server() -> None:
    model = OpenAI("m", url="http://127.0.0.1:9/v1", key=None, chat=None, served_model=FAST)
    with pytest.raises(ModelError, match=r"there is no server at http://127\.0.*; start it, or"):
        list(model.answer(requests(2), Sampling(), threading.Event()))


def test_a_wrong_key_names_where_it_comes_from_and_not_the_key(server: Server) -> None:
    server.always = status(401)
    with pytest.raises(InputError, match="is the key in OPENAI_API_KEY right") as caught:
        ask(server, 3)
    assert "sesame" not in str(caught.value)


def test_a_model_that_is_not_there(server: Server) -> None:
    server.always = status(404)
    with pytest.raises(InputError, match="right model and the right address"):
        ask(server, 1)


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8000", "http://[", "\ud800"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises((InputError, ModelError)):
        model = OpenAI("m", url=url, key=None, chat=None, served_model=FAST)
        list(model.answer(requests(1), Sampling(), threading.Event()))


def test_a_cut_answer_says_so(server: Server) -> None:
    content = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}
    server.plan = [raw(json.dumps(content).encode())]
    (said,) = ask(server, 1)
    assert (said.completion, said.stop) == ("", StopReason.LENGTH)


def test_no_more_than_so_many_are_under_way(server: Server) -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def watch(handler: object) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.02)
        with lock:
            running -= 1
        good(handler)  # type: ignore[arg-type]

    server.always = watch
    ask(server, 20)
    assert 1 < most <= 4


def test_stops_when_it_is_told_to(server: Server) -> None:
    stop = threading.Event()
    model = OpenAI("m", url=server.url, key=None, chat=None, served_model=FAST)
    said = []
    for one in model.answer(requests(100), Sampling(), stop):
        said.append(one)
        stop.set()
    assert 1 <= len(said) <= 8
