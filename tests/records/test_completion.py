"""A completion is a line of completions.jsonl."""

import json

import msgspec

from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.encoding import encode


def completion(text: str, **more: object) -> Completion:
    return Completion(task_id="a", sample=0, id="0_s0", completion=text, **more)  # type: ignore[arg-type]


def test_a_line_has_only_what_is_known() -> None:
    assert json.loads(encode(completion("x"))) == {
        "task_id": "a",
        "sample": 0,
        "id": "0_s0",
        "completion": "x",
    }


def test_a_line_can_be_read_again() -> None:
    said = completion("x", whole=True, stop=StopReason.LENGTH, more={"temperature": 0.5})
    assert msgspec.json.decode(encode(said), type=Completion) == said


def test_the_digest_is_of_the_text() -> None:
    assert completion("x").sha256 == completion("x", seed=4).sha256
    assert completion("x").sha256 != completion("y").sha256
    assert len(completion("\ud800").sha256) == 64


def test_one_greedy_sample_by_default() -> None:
    assert (Sampling().n_samples, Sampling().temperature, Sampling().seed) == (1, 0.0, 0)
