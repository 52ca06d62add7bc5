"""How likely a model finds a text, and what it says: token by token, with log-probabilities.

A text longer than the context is read through windows that overlap by half, so that every token is
scored exactly once and, beyond the first window, after at least half a context of text. Each window
begins as a text does for the model: with the tokens that its tokenizer puts in front. Where it puts
none, the first token of a text has nothing in front of it and is not scored.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from proctor.errors import InputError
from proctor.records.completion import Completion, Request, Sampling

CONTEXT = 2048
"""Tokens of one window, unless the model has fewer or the user asks for others."""
MIN_CONTEXT = 2

LogProbs = Callable[[list[int], int], list[float]]
"""Given tokens and a place, the log-probabilities of all tokens from that place on."""


class ScoredText(NamedTuple):
    """How likely a model finds the tokens of one text."""

    logprobs: Sequence[float]
    """Natural logarithms, of one token after the other."""
    bytes: int
    """Bytes of UTF-8 that these tokens stand for."""
    unscored: int
    """Tokens with nothing in front of them."""
    context: int | None
    """Tokens of one window; None if the text was seen as a whole."""


class Token(NamedTuple):
    """One token of an answer."""

    text: str
    logprob: float


class TracedTokens(NamedTuple):
    """An answer and its tokens, None where the model does not tell them."""

    completion: Completion
    tokens: Sequence[Token] | None


@runtime_checkable
class Scorer(Protocol):
    """A model that says how likely a text is."""

    def score(self, text: str, context: int) -> ScoredText:
        """Score a text with at most so many tokens in a window."""
        ...


@runtime_checkable
class Tracer(Protocol):
    """A model that says how likely its own answer was."""

    def trace(self, request: Request, sampling: Sampling) -> TracedTokens:
        """Answer one request; a NoAnswer is raised."""
        ...


class Window(NamedTuple):
    """Tokens that are seen together: from `begin` to `end`, of which those from `first` count."""

    begin: int
    first: int
    end: int


def windows(length: int, room: int, first: int = 0) -> Iterator[Window]:
    """Cut tokens into windows such that every token from `first` on counts exactly once."""
    end = min(length, room)
    if end > first:
        yield Window(0, first, end)
    while end < length:
        first = end
        begin = first - (room - room // 2)
        end = min(length, begin + room)
        yield Window(begin, first, end)


def score_tokens(lead: list[int], body: list[int], context: int, logprobs: LogProbs) -> list[float]:
    """Score the tokens of a text; `lead` stands in front of every window and is not scored."""
    room = context - len(lead)
    if room < MIN_CONTEXT:
        raise InputError(f"--context {context}: a window has no room for two tokens of a text")
    found: list[float] = []
    for begin, first, end in windows(len(body), room, 0 if lead else 1):
        found += logprobs(lead + body[begin:end], len(lead) + first - begin)
    return found


def leading_tokens(whole: list[int], body: list[int]) -> list[int]:
    """Return what a tokenizer puts in front of a text, given the tokens with and without it."""
    for start in range(len(whole) - len(body) + 1):
        if whole[start : start + len(body)] == body:
            return whole[:start]
    return []
