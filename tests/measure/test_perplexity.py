"""Perplexity: near the size of the vocabulary untrained, near 1 by heart, and as torch has it."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError, ModelError, NoAnswer, PassingNoAnswer
from proctor.measure.perplexity import MAX_BLOCKS, MIN_TOKENS, documents, measure_perplexity
from proctor.models.logprobs import ScoredText
from proctor.models.transformers import Transformers
from tests.models.checkpoints import save_known_bad, save_known_good

TEXT = "def add(a, b):\n    return a + b  # é\n"
Jsonl = Callable[[str, list[Any]], Path]


def load(folder: Path, save: Callable[[Path], None]) -> Transformers:
    import torch

    torch.set_num_threads(1)
    save(folder)
    return Transformers(folder, chat=None, batch_size=1, device="cpu")


@pytest.fixture(scope="module")
def by_heart(tmp_path_factory: pytest.TempPathFactory) -> Transformers:
    folder = tmp_path_factory.mktemp("good")
    return load(folder, lambda folder: save_known_good(folder, [("", TEXT)]))


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Transformers:
    folder = tmp_path_factory.mktemp("bad")
    return load(folder, lambda folder: save_known_bad(folder, [TEXT]))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    return file


def test_of_a_text_known_by_heart_it_is_near_1(by_heart: Transformers, text: Path) -> None:
    found = measure_perplexity(by_heart, text, 2048)
    assert 1 <= found.per_token.value < 1.05
    assert 1 <= found.per_byte.value < found.per_token.value, "a character has up to two bytes"
    assert (found.documents, found.tokens, found.unscored_tokens) == (1, len(TEXT) - 1, 1)
    assert found.bytes == len(TEXT.encode()) - 1
    assert (found.context, found.least_context) == (512, 256), "the model takes no more"
    assert found.method == "no interval: fewer than 320 tokens"
    assert found.per_token.low is None


def test_of_an_untrained_model_it_is_near_the_size_of_its_vocabulary(
    untrained: Transformers, text: Path
) -> None:
    size = len(untrained.tokenizer)
    assert 0.7 * size < measure_perplexity(untrained, text, 2048).per_token.value < 1.5 * size


def test_it_is_what_torch_says(untrained: Transformers, text: Path) -> None:
    import torch

    row = torch.tensor([untrained.tokenizer(TEXT)["input_ids"]])
    with torch.inference_mode():
        loss = float(untrained.model(input_ids=row, labels=row).loss)
    found = measure_perplexity(untrained, text, 2048)
    assert found.per_token.value == pytest.approx(math.exp(loss), rel=1e-5)
    assert found.log_likelihood == pytest.approx(-loss * found.tokens, rel=1e-5)
    assert found.bits_per_byte == pytest.approx(loss * found.tokens / found.bytes / math.log(2))


def test_windows_see_half_a_context_and_score_once(by_heart: Transformers, text: Path) -> None:
    import torch

    ids = by_heart.tokenizer(TEXT)["input_ids"]
    expected = []
    for place in range(1, len(ids)):
        # the first window has 8 tokens, each later one 4 new ones after 4 that were there
        begin = 0 if place < 8 else place - 4 - (place % 4)
        with torch.inference_mode():
            logits = by_heart.model(input_ids=torch.tensor([ids[begin:place]])).logits[0, -1]
        expected.append(float(logits.log_softmax(-1)[ids[place]]))
    found = measure_perplexity(by_heart, text, 8)
    assert found.log_likelihood == pytest.approx(sum(expected), rel=1e-4)
    assert (found.context, found.least_context) == (8, 4)
    assert found.per_token.value > measure_perplexity(by_heart, text, 2048).per_token.value


def test_special_tokens_that_a_text_spells_out_are_text(untrained: Transformers) -> None:
    assert len(untrained.score("a<|end|>b", 100).logprobs) == len("a<|end|>b") - 1


def test_what_a_tokenizer_puts_in_front_is_seen(untrained: Transformers) -> None:
    from tokenizers.processors import TemplateProcessing

    raw = untrained.tokenizer.backend_tokenizer
    before = raw.post_processor
    raw.post_processor = TemplateProcessing("<|end|> $0", special_tokens=[("<|end|>", 0)])
    try:
        scored = untrained.score(TEXT, 16)
    finally:
        raw.post_processor = before
    assert (len(scored.logprobs), scored.bytes, scored.unscored) == (len(TEXT), len(TEXT) + 1, 0)


def test_documents_are_scored_apart(untrained: Transformers, text: Path, jsonl: Jsonl) -> None:
    rows = [{"text": TEXT, "more": 1}, {"text": ""}, {"text": "d"}]
    steps = []
    found = measure_perplexity(untrained, jsonl("d.jsonl", rows), 2048, lambda: steps.append(1))
    alone = measure_perplexity(untrained, text, 2048)
    assert found.per_token == alone.per_token
    assert (found.documents, found.unscored_tokens, len(steps)) == (3, 2, 3)


class Told:
    """Says what it is told of texts; of the real ones there is a test each above."""

    name, chat = "told", False

    def __init__(self, say: Callable[[str], list[float]]) -> None:
        self._say = say

    def score(self, text: str, context: int) -> ScoredText:
        return ScoredText(self._say(text), len(text), 0, context)

    def answer(self, *_: Any) -> Iterator[Any]:
        raise AssertionError

    def close(self) -> None: ...


def test_five_documents_have_an_interval_over_documents(jsonl: Jsonl) -> None:
    file = jsonl("d.jsonl", [{"text": "a" * n} for n in (3, 4, 5, 6, 7)])
    found = measure_perplexity(Told(lambda text: [-float(len(text))] * 2), file, 100)
    assert found.method == "Student's t over 5 documents"
    assert found.per_token.value == pytest.approx(math.exp(5))
    low, high = found.per_token.low, found.per_token.high
    assert low is not None
    assert high is not None
    assert low < found.per_token.value < high
    # the mean of 3, 4, 5, 6, 7 by the book: 5 with a standard error of the root of a half
    assert math.log(high) - 5 == pytest.approx(2.7764451 * math.sqrt(0.5))
    per_byte = found.per_byte
    assert per_byte.low == pytest.approx(per_byte.value), "each has two nats a byte"


@pytest.mark.parametrize("tokens", [4, 5, 49, 50, 60, 1000])
def test_one_text_has_an_interval_over_blocks(tmp_path: Path, tokens: int) -> None:
    file = tmp_path / "a.txt"
    count = tokens * MIN_TOKENS
    file.write_text("a" * count)
    values = [-1.0 - (place % 97) / 97 for place in range(count)]
    found = measure_perplexity(Told(lambda _: values), file, 100)
    assert found.tokens == count
    if tokens < 5:
        assert found.per_token.low is None
        return
    assert found.method == f"Student's t over {min(tokens, MAX_BLOCKS)} blocks"
    assert found.per_token.low is not None
    assert found.per_token.high is not None
    assert found.per_token.low < found.per_token.value < found.per_token.high


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_a_model_that_gives_no_number(text: Path, value: float) -> None:
    with pytest.raises(ModelError, match="document 1 has a token whose log-probability is no"):
        measure_perplexity(Told(lambda _: [value]), text, 100)


def test_a_model_that_has_no_use_for_a_text(text: Path) -> None:
    with pytest.raises(ModelError, match="no use for that text"):
        measure_perplexity(Told(lambda _: [-1e6]), text, 100)


@pytest.mark.parametrize("error", [NoAnswer, PassingNoAnswer])
def test_a_text_that_is_refused(text: Path, error: type[NoAnswer]) -> None:
    def refuse(_: str) -> list[float]:
        raise error("too long")

    with pytest.raises(InputError if error is NoAnswer else PassingNoAnswer, match="too long"):
        measure_perplexity(Told(refuse), text, 100)


BAD = {
    "a.jsonl": (b'{"text": "a"}\n{"text": 5}\n', "line 2: field text must be a string"),
    "b.jsonl": (b'{"text": "a"}\n\n{"txt": "a"}\n', "line 3: field text is missing"),
    "c.jsonl": (b"hello\n", "line 1: not JSON"),
    "d.jsonl": (b'{"text": "\\ud800"}\n', "line 1: field text has half a surrogate pair"),
    "e.json": (b'[{"text": "a"}, 7]', "element 2: it must be an object"),
    "f.txt": (b"abc\xff", "not UTF-8: byte 0xff"),
    "g.txt.gz": (b"abc", "cannot read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, said = BAD[name]
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(documents(file))
    assert str(file) in str(caught.value)
    assert said in str(caught.value)


def test_files_that_are_read(tmp_path: Path) -> None:
    import gzip

    for name in ("a.txt", "a.py", "a", "a.md.gz"):
        file = tmp_path / name
        content = b"\xef\xbb\xbfd\xc3\xa9j\xc3\xa0\n"
        file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        assert list(documents(file)) == ["déjà\n"]
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": "a"}).encode()))
    assert list(documents(tmp_path / "r.jsonl.gz")) == ["a"]


def test_nothing_to_score(tmp_path: Path, untrained: Transformers) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match="there is no token to score"):
        measure_perplexity(untrained, tmp_path / "empty.txt", 100)
