"""Score a text on a server that returns log-probabilities of a prompt, as vLLM does.

If the server has `/tokenize`, a text is cut into windows of tokens; else it is sent in one piece
and must fit into the context.
"""

import math
from typing import Any, NamedTuple

from proctor.errors import InputError, NoAnswer, PassingNoAnswer
from proctor.models.http import Endpoint
from proctor.models.logprobs import ScoredText, leading_tokens, score_tokens


class PromptTokens(NamedTuple):
    """The tokens of a prompt and their log-probabilities, as a server reports them."""

    texts: list[Any]
    logprobs: list[float | None]


class PromptLogprobs:
    """One model of a server."""

    def __init__(self, name: str, model: str, endpoint: Endpoint) -> None:
        self._name = name
        self._model = model
        self._endpoint = endpoint

    def score(self, text: str, context: int) -> ScoredText:
        """Say how likely a text is."""
        if not text:
            return ScoredText([], 0, 0, None)
        body, _ = self._tokenize(text, special=False)
        if not body:
            return self._score_whole(text)
        whole, context_length = self._tokenize(text, special=True)
        lead, context = leading_tokens(whole, body), min(context, context_length)
        found = score_tokens(lead, body, context, self._logprobs)
        skipped = 0 if lead else _size(text, self._ask(body[:1]).texts[0])
        return ScoredText(found, len(text.encode()) - skipped, len(body) - len(found), context)

    def _score_whole(self, text: str) -> ScoredText:
        told = self._ask(text)
        found = [one for one in told.logprobs if one is not None]
        skipped = _size(text, told.texts[0]) if len(found) < len(told.logprobs) else 0
        return ScoredText(found, len(text.encode()) - skipped, int(skipped > 0), None)

    def _logprobs(self, ids: list[int], first: int) -> list[float]:
        told = self._ask(ids).logprobs
        if len(told) != len(ids):
            raise NoAnswer(f"{self._name}: sent {len(ids)} tokens, told of {len(told)}")
        return [one for one in told[first:] if one is not None]

    def _tokenize(self, text: str, *, special: bool) -> tuple[list[int], int]:
        """Return the tokens of a text and the context length; [], 0 if the server cannot tell."""
        body = {"model": self._model, "prompt": text, "add_special_tokens": special}
        try:
            said = self._endpoint.at_root().post("/tokenize", body, lambda said: said)
        except PassingNoAnswer:
            raise
        except (InputError, NoAnswer):
            return [], 0
        ids, context_length = said.get("tokens"), said.get("max_model_len")
        if not isinstance(ids, list) or not all(type(one) is int for one in ids):
            return [], 0
        return ids, context_length - 1 if type(context_length) is int else 1 << 30

    def _ask(self, prompt: str | list[int]) -> PromptTokens:
        body = {"model": self._model, "prompt": prompt, "max_tokens": 1, "temperature": 0.0}
        return self._endpoint.post(
            "/completions", {**body, "logprobs": 1, "echo": True}, self._read
        )

    def _read(self, said: dict[str, Any]) -> PromptTokens:
        """Read the tokens of the prompt, without the one token that was generated."""
        try:
            told = said["choices"][0]["logprobs"] or {}
            count = said["usage"]["prompt_tokens"]
            texts, logprobs = told.get("tokens", []), told.get("token_logprobs", [])
            if min(len(texts), len(logprobs)) < count:
                raise InputError(
                    f"--model {self._name}: its server does not tell the log-probabilities of a "
                    "prompt (echo with logprobs, as vLLM does); for GGUF files take llama:PATH"
                )
            found = PromptTokens(texts[:count], logprobs[:count])
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            why = f"an answer without log-probabilities ({error!r})"
            raise PassingNoAnswer(f"{self._name}: {why}") from None
        if not found.logprobs or not all(map(_is_logprob, found.logprobs[1:])):
            raise PassingNoAnswer(f"{self._name}: an answer with a log-probability that is none")
        return found


def _is_logprob(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _size(text: str, first: Any) -> int:
    """Return the size of the first token in bytes, 0 if the server added it."""
    return len(first.encode()) if isinstance(first, str) and text.startswith(first) else 0
