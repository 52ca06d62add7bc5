"""How well a model predicts a text: perplexity per token and per byte, with an interval.

Per token is the usual figure, but models with different tokenizers can only be compared per byte.
"""

import math
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.errors import InputError, ModelError, NoAnswer
from proctor.models.logprobs import ScoredText, Scorer
from proctor.models.providers import Provider
from proctor.results.stats import MIN_TASKS, Interval, ratio_interval
from proctor.storage.jsonl import COMPRESSED, explain_error, file_sha256, read_lines, read_whole

ROWS = (".jsonl", ".json")
MIN_TOKENS, MAX_BLOCKS = 64, 50
"""Neighbouring tokens go together: a block has at least so many, and there are at most so many."""


class Row(msgspec.Struct):
    """One document of a file of rows."""

    text: str


class TextPerplexity(msgspec.Struct, frozen=True, kw_only=True):
    """A perplexity with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


class Perplexity(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured."""

    model: str
    data: str
    data_sha256: str
    documents: int
    tokens: int
    """Those that were scored."""
    bytes: int
    """Those that the scored tokens stand for."""
    unscored_tokens: int
    """First tokens of documents, where the model puts nothing in front of a text."""
    per_token: TextPerplexity
    per_byte: TextPerplexity
    bits_per_byte: float
    log_likelihood: float
    """Of all scored tokens together, a natural logarithm."""
    context: int | None
    """Tokens of one window; None if the server was sent every text in one piece."""
    least_context: int | None
    """Tokens that were seen before each token, unless its text has fewer before it."""
    method: str
    """How the intervals were made, or why there are none."""
    seconds: float
    schema: int = 1


def measure_perplexity(
    provider: Provider, path: Path, context: int, step: Callable[[], None] = lambda: None
) -> Perplexity:
    """Score all documents of a file, and call `step` after each."""
    if not isinstance(provider, Scorer):
        raise InputError(
            f"--model {provider.name}: does not say how likely a text is; "
            "transformers:, llama: and openai: do"
        )
    begin = time.monotonic()
    scores = []
    for number, text in enumerate(documents(path), 1):
        scores.append(_score(provider, provider.name, text, context, number))
        step()
    tokens = sum(len(one.logprobs) for one in scores)
    if not tokens:
        raise InputError(f"{path}: there is no token to score in it")
    size = sum(one.bytes for one in scores)
    loss = -math.fsum(value for one in scores for value in one.logprobs)
    window = min((one.context for one in scores if one.context is not None), default=None)
    per_token, per_byte, method = _intervals(scores, tokens / size)
    return Perplexity(
        model=provider.name,
        data=path.name,
        data_sha256=file_sha256(path),
        documents=len(scores),
        tokens=tokens,
        bytes=size,
        unscored_tokens=sum(one.unscored for one in scores),
        per_token=_figure(loss / tokens, per_token),
        per_byte=_figure(loss / size, per_byte),
        bits_per_byte=loss / size / math.log(2),
        log_likelihood=-loss,
        context=window,
        least_context=None if window is None else window - window // 2,
        method=method,
        seconds=round(time.monotonic() - begin, 3),
    )


def documents(path: Path) -> Iterator[str]:
    """Yield the texts of a file: the field `text` of its rows, or all of it."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSED]
    if not suffixes or suffixes[-1] not in ROWS:
        yield _decoded(path)
        return
    for line in read_lines(path):
        text = line.decode(Row).text
        if not text.isascii() and not _is_unicode(text):
            raise line.error("field text has half a surrogate pair, which is no character")
        yield text


def _decoded(path: Path) -> str:
    try:
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: {explain_error(error)}") from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _score(scorer: Scorer, name: str, text: str, context: int, number: int) -> ScoredText:
    try:
        scored = scorer.score(text, context)
    except NoAnswer as error:
        if error.passing:
            raise
        raise InputError(f"document {number}: {error}; try a smaller --context") from None
    if not all(map(math.isfinite, scored.logprobs)):
        raise ModelError(
            f"{name}: document {number} has a token whose log-probability is no number"
        )
    return scored._replace(logprobs=array("d", scored.logprobs))


def _figure(mean: float, interval: Interval | None) -> TextPerplexity:
    if interval is None:
        return TextPerplexity(value=_exp(mean), low=None, high=None)
    low = max(0.0, interval.low)  # nothing is likelier than certain
    return TextPerplexity(value=_exp(mean), low=_exp(low), high=_exp(interval.high))


def _exp(nats: float) -> float:
    try:
        return math.exp(nats)
    except OverflowError:
        raise ModelError(f"{nats:.0f} nats a token: this model has no use for that text") from None


class Unit(NamedTuple):
    """What is taken to be independent of the others."""

    loss: float
    tokens: float
    bytes: float


def _intervals(
    scores: Sequence[ScoredText], tokens_a_byte: float
) -> tuple[Interval | None, Interval | None, str]:
    units = [
        Unit(-math.fsum(one.logprobs), len(one.logprobs), one.bytes)
        for one in scores
        if one.logprobs
    ]
    kind = "documents"
    if len(units) < MIN_TASKS:
        kind, units = "blocks", list(_blocks(scores, tokens_a_byte))
    if len(units) < MIN_TASKS:
        return None, None, f"no interval: fewer than {MIN_TASKS * MIN_TOKENS} tokens"
    losses = [unit.loss for unit in units]
    return (
        ratio_interval(losses, [unit.tokens for unit in units]),
        ratio_interval(losses, [unit.bytes for unit in units]),
        f"Student's t over {len(units)} {kind}",
    )


def _blocks(scores: Sequence[ScoredText], tokens_a_byte: float) -> Iterator[Unit]:
    """Cut all tokens into blocks of neighbours; their bytes are taken to be shared out evenly."""
    losses = [-value for one in scores for value in one.logprobs]
    count = min(MAX_BLOCKS, len(losses) // MIN_TOKENS)
    ends = [round(place * len(losses) / count) for place in range(count + 1)] if count else []
    sums = [0.0, *accumulate(losses)]
    for begin, end in pairwise(ends):
        yield Unit(sums[end] - sums[begin], end - begin, (end - begin) / tokens_a_byte)
