"""Two backends against each other: what is the same, where they part, and by how much."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError, NoAnswer, PassingNoAnswer
from proctor.measure.parity import (
    Side,
    ask_model,
    compare_models,
    diverge,
    judge_parity,
    read_prompts,
)
from proctor.models.command import Command
from proctor.models.http import ServedModel
from proctor.models.logprobs import Token, TracedTokens
from proctor.models.openai import OpenAI
from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.prompt import Prompt
from tests.models.checkpoints import save_known_bad, save_known_good
from tests.models.conftest import Handler, Server, good, status
from tests.models.conftest import server as _server

server = _server
FAST = ServedModel(max_in_flight=1, seconds=2.0, first_wait_seconds=0.01)
PAIRS = [("def add(a, b):\n", "    return a + b\n"), ("def one():\n", "    return 1\n")]
PROMPTS = [
    Prompt(task_id=f"t/{n}", text=text, turns=[("user", text)]) for n, (text, _) in enumerate(PAIRS)
]
SAMPLING = Sampling(max_tokens=24)


def nothing() -> None:
    """Count no step."""


def said(
    text: str, *tokens: tuple[str, float], stop: StopReason = StopReason.STOP, told: bool = True
) -> TracedTokens:
    more = {"error": "it fell over"} if stop is StopReason.ERROR else {}
    completion = Completion(
        task_id="t", sample=0, id="0_s0", completion=text, stop=stop, model="m", more=more
    )
    return TracedTokens(completion, [Token(*one) for one in tokens] if told else None)


def side(*answers: TracedTokens) -> Side:
    return Side("m", False, list(answers))


@pytest.mark.parametrize(
    ("a", "b", "position", "rest"),
    [
        ("abcdef", "abcxef", 3, ("def", "xef")),
        ("abc", "abcdef", 3, ("", "def")),
        ("", "x", 0, ("", "x")),
        ("é" * 200 + "a" * 200, "é" * 200 + "b" * 200, 200, ("a" * 80, "b" * 80)),
    ],
)
def test_where_two_texts_part(a: str, b: str, position: int, rest: tuple[str, str]) -> None:
    found = diverge(said(a).completion, said(b).completion)
    assert found is not None
    assert (found.position, found.a, found.b) == (position, *rest)
    assert diverge(said(a).completion, said(a).completion) is None


def test_log_probabilities_are_compared_up_to_where_texts_part() -> None:
    first = side(said("abX", ("a", -1.0), ("b", -2.0), ("X", -0.1)))
    second = side(said("abY", ("a", -1.5), ("b", -1.75), ("Y", -9.0)))
    found = compare_models(first, second, SAMPLING)
    assert found.logprobs is not None
    assert found.logprobs.tokens == 2
    assert found.logprobs.mean_difference == pytest.approx(-0.125)
    assert found.logprobs.mean_absolute == pytest.approx(0.375)
    assert found.logprobs.largest == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (said("a", told=False), said("a", ("a", -1.0)), "m tells none"),
        (said("a", ("a", -1.0)), said("b", ("b", -1.0)), "there is no token that both say"),
        (said("a", ("a", float("-inf"))), said("a", ("a", -1.0)), "not all are numbers"),
    ],
)
def test_log_probabilities_that_cannot_be_compared(
    first: TracedTokens, second: TracedTokens, why: str
) -> None:
    found = compare_models(side(first), side(second), SAMPLING)
    assert (found.logprobs, found.no_logprobs) == (None, why)
    gated = judge_parity(found, None, 10.0).gate
    assert gated is not None
    assert not gated.passed, "what cannot be seen is not vouched for"
    assert why in gated.why


def test_an_answer_that_is_missing_is_no_difference() -> None:
    lost = said("", stop=StopReason.ERROR)
    found = compare_models(side(said("a"), said("b")), side(said("a"), lost), SAMPLING)
    assert (found.prompts, found.differing, found.unanswered, found.degraded) == (1, 0, 1, True)
    assert found.failures == {"t": "it fell over"}
    gated = judge_parity(found, 1.0, None).gate
    assert gated is not None
    assert (gated.passed, gated.why) == (False, "1 prompts have no two answers")
    with pytest.raises(InputError, match="no prompt was answered by both: it fell over"):
        compare_models(side(said("a")), side(lost), SAMPLING)


@pytest.mark.parametrize(
    ("bound", "logprob", "passed"),
    [(0.5, None, True), (0.49, None, False), (1.0, 0.5, True), (1.0, 0.49, False), (0, 0, False)],
)
def test_the_gate(bound: float | None, logprob: float | None, passed: bool) -> None:
    first = side(said("a", ("a", -1.0)), said("b", ("b", -1.0)))
    second = side(said("a", ("a", -1.5)), said("c", ("c", -1.0)))
    gate = judge_parity(compare_models(first, second, SAMPLING), bound, logprob).gate
    assert gate is not None
    assert gate.passed is passed
    assert bool(gate.why) is not passed


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_known_good(folder / "good", PAIRS)
    save_known_bad(folder / "bad", [a + b for a, b in PAIRS])
    return folder / "good", folder / "bad"


def trace(folder: Path) -> Side:
    from proctor.models.transformers import Transformers

    model = Transformers(folder, chat=None, batch_size=1, device="cpu")
    try:
        return ask_model(model, PROMPTS, SAMPLING, nothing)
    finally:
        model.close()


def test_a_checkpoint_is_like_itself(checkpoints: tuple[Path, Path]) -> None:
    first, second = trace(checkpoints[0]), trace(checkpoints[0])
    assert [one.completion.completion for one in first.said] == [answer for _, answer in PAIRS]
    found = compare_models(first, second, SAMPLING)
    assert (found.prompts, found.differing, found.low) == (2, 0, 0)
    assert found.logprobs is not None
    assert found.logprobs.tokens == sum(len(answer) + 1 for _, answer in PAIRS)
    assert found.logprobs.largest == 0
    assert all(-0.1 < token.logprob <= 0 for one in first.said for token in one.tokens or ())


def test_a_checkpoint_is_unlike_another(checkpoints: tuple[Path, Path]) -> None:
    found = compare_models(trace(checkpoints[0]), trace(checkpoints[1]), SAMPLING)
    assert (found.differing, found.differing_share, found.high) == (2, 1, 1)
    one = found.divergences[0]
    assert one.a == PAIRS[0][1][one.position :]
    gate = judge_parity(found, 0.5, None).gate
    assert gate is not None
    assert not gate.passed


def test_traced_tokens_make_up_the_answer_with_torchs_probabilities(
    checkpoints: tuple[Path, Path],
) -> None:
    import torch

    from proctor.models.transformers import Transformers

    model = Transformers(checkpoints[1], chat=None, batch_size=1, device="cpu")
    one = ask_model(model, PROMPTS[:1], Sampling(max_tokens=8), nothing).said[0]
    assert one.tokens is not None
    assert "".join(token.text for token in one.tokens).startswith(one.completion.completion)
    ids = model.tokenizer(PROMPTS[0].text)["input_ids"]
    with torch.inference_mode():
        best = model.model(input_ids=torch.tensor([ids])).logits[0, -1].log_softmax(-1).max()
    assert one.tokens[0].logprob == pytest.approx(float(best), abs=1e-5)


def test_a_prompt_that_does_not_fit_is_unanswered(checkpoints: tuple[Path, Path]) -> None:
    from proctor.models.transformers import Transformers

    model = Transformers(checkpoints[1], chat=None, batch_size=1, device="cpu")
    (one,) = ask_model(model, PROMPTS[:1], Sampling(max_tokens=600), nothing).said
    assert one.completion.stop is StopReason.ERROR


def test_a_program_tells_no_log_probabilities(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(
        "import json, sys\n"
        "for one in sorted(map(json.loads, sys.stdin), key=lambda one: one['prompt']):\n"
        "    print(json.dumps({'task_id': one['task_id'], 'text': one['prompt']}), flush=True)\n"
    )
    program = Command(f"{sys.executable} {file}", chat=None, batch=True)
    found = ask_model(program, PROMPTS[::-1], SAMPLING, nothing)
    assert [one.completion.completion for one in found.said] == [one.text for one in PROMPTS[::-1]]
    assert all(one.tokens is None for one in found.said)


def telling(handler: Handler) -> None:
    """Answer and tell log-probabilities, in the form that fits the question."""
    if handler.body.get("logprobs") is True:
        told: Any = {"content": [{"token": "hi", "logprob": -0.5}]}
        choice: Any = {"message": {"content": "hi"}, "logprobs": told}
    else:
        told = {"tokens": ["hi"], "token_logprobs": [-0.5]}
        choice = {"text": "hi", "logprobs": told}
    handler.say(200, json.dumps({"choices": [choice]}).encode())


@pytest.mark.parametrize("chat", [True, False])
def test_a_server_tells_its_log_probabilities(server: Server, chat: bool) -> None:
    server.always = telling
    model = OpenAI("m", url=server.url, key=None, chat=chat, served_model=FAST)
    found = ask_model(model, PROMPTS, SAMPLING, nothing)
    assert [one.tokens for one in found.said] == [[Token("hi", -0.5)]] * 2


def test_a_server_that_refuses_to_tell_is_asked_without(server: Server) -> None:
    def refuse(handler: Handler) -> None:
        (status(400) if "logprobs" in handler.body else good)(handler)

    server.always = refuse
    model = OpenAI("m", url=server.url, key=None, chat=True, served_model=FAST)
    found = ask_model(model, PROMPTS, SAMPLING, nothing)
    assert [one.tokens for one in found.said] == [None, None]
    assert found.said[0].completion.completion == f"echo {PROMPTS[0].text}"


def test_a_server_that_is_gone_is_no_answer_at_all(server: Server) -> None:
    server.always = status(500)
    model = OpenAI("m", url=server.url, key=None, chat=True, served_model=FAST)
    with pytest.raises(PassingNoAnswer, match="500"):
        ask_model(model, PROMPTS, SAMPLING, nothing)
    server.always = status(400)
    found = ask_model(model, PROMPTS, SAMPLING, nothing)
    assert all(one.completion.stop is StopReason.ERROR for one in found.said)
    assert issubclass(PassingNoAnswer, NoAnswer)


def test_prompts_of_a_users_own(jsonl: Callable[..., Path]) -> None:
    file = jsonl("p.jsonl", [{"prompt": "a"}, {"prompt": "b", "task_id": "x", "more": 1}])
    assert read_prompts(file) == [
        Prompt(task_id="1", text="a", turns=[("user", "a")]),
        Prompt(task_id="x", text="b", turns=[("user", "b")]),
    ]


def bad() -> Iterator[tuple[bytes, str]]:
    yield b'{"prompt": 5}', "line 1: field prompt must be a string"
    yield b'{"text": "a"}', "line 1: field prompt is missing"
    yield b'{"prompt": ""}', "line 1: field prompt is empty"
    yield b'{"prompt": "\\ud800"}', "line 1: field prompt has half a surrogate pair"
    yield b'{"prompt": "a", "task_id": "x"}\n' * 2, "line 2: field task_id: 'x' is there twice"
    yield b"", "there is no prompt in it"


@pytest.mark.parametrize(("content", "why"), list(bad()))
def test_prompts_that_are_none(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_prompts(file)
    assert str(file) in str(caught.value)
    assert why in str(caught.value)
