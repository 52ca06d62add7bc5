"""Servers that send prompts back with log-probabilities, in all the ways they do and do not."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from proctor.errors import InputError, NoAnswer
from proctor.models.http import ServedModel
from proctor.models.openai import OpenAI
from tests.models.conftest import Behaviour, Handler, Server, raw, status

FAST = ServedModel(max_in_flight=1, seconds=2.0, first_wait_seconds=0.01)
START = 1
"""The token that our server puts in front of a text, if it does."""


def logprob(ids: list[int], place: int) -> float:
    """What our server thinks of a token: it depends on all that is seen before it."""
    return -0.001 * ids[place] - 0.01 * place


def serve(*, tokenizes: bool = True, start: bool = True, most: int = 1000) -> Behaviour:
    """Behave like vLLM, with a token for every byte."""

    def answer(handler: Handler) -> None:
        body = handler.body
        front = [START] if start else []
        if handler.path == "/tokenize" and tokenizes:
            ids = [*(front if body["add_special_tokens"] else []), *body["prompt"].encode()]
            return handler.say(200, json.dumps({"tokens": ids, "max_model_len": most}).encode())
        if handler.path != "/v1/completions":
            return handler.say(404, b'{"error": "no"}')
        assert (body["echo"], body["logprobs"], body["max_tokens"]) == (True, 1, 1)
        prompt = body["prompt"]
        ids = prompt if isinstance(prompt, list) else [*front, *prompt.encode()]
        if len(ids) >= most:
            return handler.say(400, b'{"error": {"message": "the context is shorter"}}')
        told = [None, *(logprob(ids, place) for place in range(1, len(ids))), -9.0]
        texts = ["<s>" if one == START else chr(one) for one in ids]
        choice = {"text": "", "logprobs": {"tokens": [*texts, "x"], "token_logprobs": told}}
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        return handler.say(200, json.dumps({"choices": [choice], "usage": usage}).encode())

    return answer


@pytest.fixture
def model(server: Server) -> OpenAI:
    return OpenAI("m", url=server.url, key="sesame", chat=None, served_model=FAST)


@pytest.mark.parametrize("tokenizes", [True, False])
@pytest.mark.parametrize("start", [True, False])
def test_a_text_that_fits(server: Server, model: OpenAI, tokenizes: bool, start: bool) -> None:
    server.always = serve(tokenizes=tokenizes, start=start)
    scored = model.score("hello", 100)
    ids = [START, *b"hello"] if start else [*b"hello"]
    assert scored.logprobs == [logprob(ids, place) for place in range(1, len(ids))]
    assert (scored.bytes, scored.unscored) == ((5, 0) if start else (4, 1))
    assert scored.context == (100 if tokenizes else None)


def test_a_longer_text_is_cut_into_windows(server: Server, model: OpenAI) -> None:
    server.always = serve(most=12)  # one of which is for the token that nobody wants
    text = "abcdefghijklmnopqrstuvwxyz"
    scored = model.score(text, 2048)
    assert scored.context == 11
    assert (len(scored.logprobs), scored.bytes) == (26, 26)
    assert scored.logprobs[10] == logprob([START, *b"fghijklmno"], 6)


def test_nothing_is_asked_of_an_empty_text(server: Server, model: OpenAI) -> None:
    assert model.score("", 100).logprobs == []
    assert not server.bodies


def test_the_key_goes_along(server: Server, model: OpenAI) -> None:
    server.always = serve()
    model.score("a", 100)
    assert {one["authorization"] for one in server.headers} == {"Bearer sesame"}


def test_a_server_that_does_not_send_prompts_back(server: Server, model: OpenAI) -> None:
    """As llama.cpp's, which tells only of the one token that it generates."""
    told = {"content": [{"token": "s", "logprob": -1.7}]}
    said = {"choices": [{"text": "s", "logprobs": told}], "usage": {"prompt_tokens": 4}}
    server.always = raw(json.dumps({"tokens": [], **said}).encode())
    with pytest.raises(InputError, match="does not tell the log-probabilities of a prompt"):
        model.score("hello", 100)
    server.always = raw(json.dumps({**said, "choices": [{"logprobs": None}]}).encode())
    with pytest.raises(InputError, match="does not tell the log-probabilities of a prompt"):
        model.score("hello", 100)


def test_a_text_that_does_not_fit_in_one_piece(server: Server, model: OpenAI) -> None:
    server.always = serve(tokenizes=False, most=4)
    with pytest.raises(NoAnswer, match="the context is shorter"):
        model.score("hello", 100)


def changed(change: Callable[[dict[str, Any]], None]) -> Behaviour:
    told = {"tokens": ["a", "b", "c"], "token_logprobs": [None, -1.0, -2.0]}
    said: dict[str, Any] = {"choices": [{"logprobs": told}], "usage": {"prompt_tokens": 2}}
    change(said)
    return raw(json.dumps(said).encode())


FAULTS = {
    "busy": status(503),
    "no usage": changed(lambda said: said.pop("usage")),
    "no choices": changed(lambda said: said.update(choices=[])),
    "a word": changed(lambda said: said["choices"][0]["logprobs"].update(tokens=5)),
    "no number": changed(
        lambda said: said["choices"][0]["logprobs"].update(token_logprobs=[None, "x", 1])
    ),
    "not finite": changed(
        lambda said: said["choices"][0]["logprobs"].update(token_logprobs=[None, -math.inf, 1])
    ),
    "true": changed(
        lambda said: said["choices"][0]["logprobs"].update(token_logprobs=[None, True, 1])
    ),
    "no prompt": changed(lambda said: said["usage"].update(prompt_tokens=0)),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_asked_about_again(server: Server, model: OpenAI, fault: Behaviour) -> None:
    server.always = serve(tokenizes=False)
    server.plan = [status(404), fault, fault]
    assert len(model.score("hello", 100).logprobs) == 5
    assert len(server.bodies) == 4


@pytest.mark.parametrize("tokens", [5, ["a"], [1.5], [True], None])
def test_tokens_that_are_none_are_not_used(server: Server, model: OpenAI, tokens: object) -> None:
    server.always = serve(tokenizes=False)
    server.plan = [raw(json.dumps({"tokens": tokens}).encode())]
    assert len(model.score("hello", 100).logprobs) == 5
