"""Real weights by llama.cpp: in this process, and behind its server."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.models.http import ServedModel
from proctor.models.llama import Llama, find_weights
from proctor.models.openai import OpenAI
from proctor.models.providers import Provider
from proctor.records.completion import Completion, Request, Sampling, StopReason
from proctor.records.prompt import Prompt

pytestmark = pytest.mark.requires("smollm2")

SAMPLING = Sampling(max_tokens=12)
QUESTIONS = ("Say hello.", "Write a Python function that adds two numbers.")


def requests(texts: tuple[str, ...] = QUESTIONS, stop: tuple[str, ...] = ()) -> Iterator[Request]:
    for index, text in enumerate(texts):
        prompt = Prompt(task_id=f"t/{index}", text=text, turns=[("user", text)], stop=stop)
        yield Request(prompt=prompt, sample=0, id=f"{index}_s0", seed=index)


def ask(model: Provider, *args: tuple[str, ...], sampling: Sampling = SAMPLING) -> list[Completion]:
    said = model.answer(requests(*args), sampling, threading.Event())
    return sorted(said, key=lambda one: one.id)


@pytest.fixture(scope="module")
def model() -> Iterator[Llama]:
    model = Llama(find_weights("smollm2"), chat=None, max_in_flight=1, threads=1)
    yield model
    model.close()


def test_answers(model: Llama) -> None:
    said = ask(model)
    assert model.chat
    assert model.name == "llama:SmolLM2-135M-Instruct.Q4_1.gguf"
    assert all(one.completion and one.completion_tokens for one in said)
    assert said[1].stop is StopReason.LENGTH
    assert said[1].completion_tokens == SAMPLING.max_tokens


def test_its_server_says_the_same_greedily(model: Llama) -> None:
    behind = OpenAI("smollm2", url=model.url, key=None, chat=True, served_model=ServedModel(1))
    assert [one.completion for one in ask(behind)] == [one.completion for one in ask(model)]


def test_goes_on_with_a_text(model: Llama) -> None:
    model.chat = False
    try:
        (said,) = ask(model, ("1 2 3 4 5 6 7",), ("9",))
    finally:
        model.chat = True
    assert said.completion.strip().startswith("8")
    assert "9" not in said.completion


def test_scores_are_the_probabilities_of_answers(model: Llama) -> None:
    """Against the truth the long way: all of the vocabulary after every beginning of a text."""
    text = "def add(a, b):\n    return b é"
    ids = [one["id"] for one in model._tokenize(text, special=False)]
    expected = []
    for place in range(1, len(ids)):
        body = {"prompt": ids[:place], "max_tokens": 1, "temperature": 0.0, "logprobs": 49152}
        told = model._servers[0].handle_completions(body)["choices"][0]["logprobs"]["content"][0]
        known = {one["id"]: one["logprob"] for one in told["top_logprobs"]}
        expected.append(known[ids[place]])
    scored = model.score(text, 2048)
    # The long way reads texts in one go, which rounds otherwise than word by word.
    assert scored.logprobs == pytest.approx(expected, abs=0.6)
    assert sum(scored.logprobs) == pytest.approx(sum(expected), rel=0.05)
    assert (len(scored.logprobs), scored.unscored) == (len(ids) - 1, 1)
    assert scored.bytes == len(text.encode()) - len("def")


def test_scores_do_not_depend_on_what_was_asked_before(model: Llama) -> None:
    first = model.score("The quick brown fox jumps.", 8)
    ask(model)
    again = model.score("The quick brown fox jumps.", 8)
    assert again.logprobs == pytest.approx(first.logprobs, abs=0.01)
    assert first.context == 8


def test_special_tokens_that_a_text_spells_out_are_text(model: Llama) -> None:
    assert len(model.score("a<|im_end|>b", 100).logprobs) > 3


def test_a_text_that_is_likely_scores_higher(model: Llama) -> None:
    usual = model.score("The capital of France is Paris.", 100)
    odd = model.score("The capital of France is blue.", 100)
    assert sum(usual.logprobs) > sum(odd.logprobs) + 2


def test_traces_are_answers_with_their_tokens(model: Llama) -> None:
    (request,) = requests(QUESTIONS[1:])
    traced = model.trace(request, SAMPLING)
    assert traced.completion.completion == ask(model, QUESTIONS[1:])[0].completion
    assert traced.tokens is not None
    assert "".join(token.text for token in traced.tokens) == traced.completion.completion
    assert all(token.logprob <= 0 for token in traced.tokens)
    behind = OpenAI("smollm2", url=model.url, key=None, chat=True, served_model=ServedModel(1))
    other = behind.trace(request, SAMPLING).tokens
    assert other is not None
    assert [token.text for token in other] == [token.text for token in traced.tokens]
    logprobs = [token.logprob for token in traced.tokens]
    assert [token.logprob for token in other] == pytest.approx(logprobs, abs=0.01)


def test_its_server_does_not_tell_of_prompts(model: Llama) -> None:
    behind = OpenAI("smollm2", url=model.url, key=None, chat=True, served_model=ServedModel(1))
    with pytest.raises(InputError, match="does not tell the log-probabilities of a prompt"):
        behind.score("hello", 100)


@pytest.mark.slow
def test_the_same_seed_draws_the_same(model: Llama) -> None:
    sampling = Sampling(max_tokens=12, temperature=1.0)
    first = [one.completion for one in ask(model, sampling=sampling)]
    assert first == [one.completion for one in ask(model, sampling=sampling)]
    assert first != [one.completion for one in ask(model)]


def test_what_does_not_fit_is_unanswered(model: Llama) -> None:
    (said,) = ask(model, ("word " * 9000,))
    assert said.stop is StopReason.ERROR
    assert "context" in said.more["error"]


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        Llama(tmp_path / "no.gguf", chat=None, max_in_flight=1)


def test_weights_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "no.gguf"
    file.write_bytes(b"GGUF nonsense")
    with pytest.raises(InputError, match="cannot be loaded"):
        Llama(file, chat=None, max_in_flight=1)


@pytest.mark.slow
def test_how_many_are_asked_at_once_changes_nothing(model: Llama) -> None:
    several = Llama(find_weights("smollm2"), chat=None, max_in_flight=2, threads=1)
    try:
        assert [one.completion for one in ask(several)] == [one.completion for one in ask(model)]
    finally:
        several.close()


@pytest.mark.slow
def test_a_run_in_process_and_over_http_finds_the_same(
    model: Llama, proctor: Callable[..., Any]
) -> None:
    args = ("run", "basics", "--samples", "2", "--max-tokens", "24", "--base", "--json", "--model")
    found = {}
    for name, more in (
        ("llama:smollm2", ()),
        ("openai:smollm2", ("--base-url", model.url, "--concurrency", "1")),
    ):
        out = name.partition(":")[0]
        ran = proctor(*args, name, *more, "--out", out)
        assert ran.status == 0, ran.err
        rows = [json.loads(line) for line in Path(out, "completions.jsonl").open()]
        found[out] = {row["task_id"]: (row["completion"], row["completion_tokens"]) for row in rows}
    assert found["llama"] == found["openai"]
    assert all(text for text, _ in found["llama"].values())
