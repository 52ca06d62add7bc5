"""The anthropic provider."""

import json
import threading

import pytest

from proctor.errors import InputError
from proctor.models.anthropic import Anthropic
from proctor.models.http import ServedModel
from proctor.records.completion import Completion, Sampling, StopReason
from tests.models.conftest import Server, raw, status
from tests.models.test_openai import requests

FAST = ServedModel(max_in_flight=2, seconds=2.0, first_wait_seconds=0.01)


def ask(server: Server, count: int, sampling: Sampling | None = None) -> list[Completion]:
    model = Anthropic(
        "m", url=server.url.removesuffix("/v1"), key="sesame", chat=None, served_model=FAST
    )
    return list(model.answer(requests(count), sampling or Sampling(), threading.Event()))


def says(text: str, reason: str = "end_turn") -> bytes:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
    usage = {"input_tokens": 5, "output_tokens": 6}
    return json.dumps({"content": parts, "stop_reason": reason, "usage": usage}).encode()


def test_answers_with_the_text_alone(server: Server) -> None:
    server.always = raw(says("hello"))
    (said,) = ask(server, 1)
    assert (said.completion, said.stop, said.model) == ("hello", StopReason.STOP, "anthropic:m")
    assert (said.prompt_tokens, said.completion_tokens) == (5, 6)


def test_asks_as_the_protocol_wants_it(server: Server) -> None:
    server.always = raw(says("hello"))
    ask(server, 1, Sampling(temperature=0.5, max_tokens=9))
    assert server.bodies[0] == {
        "model": "m",
        "messages": [{"role": "user", "content": "prompt 0"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_k": 40,
    }
    assert server.headers[0]["x-api-key"] == "sesame"
    assert server.headers[0]["anthropic-version"] == "2023-06-01"


def test_a_cut_answer_says_so(server: Server) -> None:
    server.always = raw(says("hel", "max_tokens"))
    assert ask(server, 1)[0].stop is StopReason.LENGTH


@pytest.mark.parametrize(
    "fault", [status(529), status(429, retry_after="0"), raw(b'{"content": 1}'), raw(b"{}")]
)
def test_a_fault_loses_nothing(server: Server, fault: object) -> None:
    server.always = raw(says("hello"))
    server.plan = [fault, fault]  # type: ignore[list-item]
    assert [one.completion for one in ask(server, 3)] == ["hello"] * 3


def test_needs_a_key() -> None:
    with pytest.raises(InputError, match="put a key into ANTHROPIC_API_KEY"):
        Anthropic("m", url=None, key=None, chat=None, served_model=FAST)


def test_does_not_continue_texts() -> None:
    with pytest.raises(InputError, match="they do not continue a text"):
        Anthropic("m", url=None, key="k", chat=False, served_model=FAST)
