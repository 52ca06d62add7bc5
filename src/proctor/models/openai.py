"""Models behind a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp, Ollama, OpenAI."""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.completion import Completion, Request, Sampling, StopReason, answered
from proctor.errors import NoAnswer, PassingNoAnswer
from proctor.models.asking import ask_all
from proctor.models.echo import Echo
from proctor.models.endpoint import Endpoint, Serving
from proctor.models.scoring import Scored, Token, Traced

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
LENGTH = "length"


class OpenAI:
    """One model of one server, asked for chat or for plain continuation."""

    def __init__(
        self, model: str, *, url: str | None, key: str | None, chat: bool | None, how: Serving
    ) -> None:
        self.name = f"openai:{model}"
        self.chat = chat is not False
        self._model = model
        self._strict = url is None  # OpenAI itself refuses what it does not know
        self._at_once = how.at_once
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._endpoint = Endpoint(url or OPENAI, headers, KEY, how)

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests, many at once, in the order in which answers come."""
        return ask_all(
            lambda request: self._ask(request, sampling),
            requests,
            model=self.name,
            at_once=self._at_once,
            stop=stop,
        )

    def close(self) -> None:
        """Close all connections."""
        self._endpoint.close()

    def score(self, text: str, context: int) -> Scored:
        """Say how likely a text is, if the server tells that of prompts."""
        return Echo(self.name, self._model, self._endpoint).score(text, context)

    def trace(self, request: Request, sampling: Sampling) -> Traced:
        """Answer one request and say how likely every token was, if the server tells that."""
        try:
            return self._trace(request, sampling, {"logprobs": True if self.chat else 1})
        except PassingNoAnswer:
            raise
        except NoAnswer:  # some models refuse to be asked for that
            return self._trace(request, sampling, {})

    def _ask(self, request: Request, sampling: Sampling) -> Completion:
        return self._trace(request, sampling, {}).completion

    def _trace(self, request: Request, sampling: Sampling, more: Mapping[str, Any]) -> Traced:
        body = {"model": self._model, **body_of(request, sampling, chat=self.chat), **more}
        if self._strict:
            del body["top_k"]
            body["max_completion_tokens"] = body.pop("max_tokens")
        path = "/chat/completions" if self.chat else "/completions"
        begin = time.monotonic()

        def read(said: dict[str, Any]) -> Traced:
            completion = completion_of(request, said, self.name, time.monotonic() - begin)
            return Traced(completion, tokens_of(said))

        return self._endpoint.post(path, body, read)


def body_of(request: Request, sampling: Sampling, *, chat: bool) -> dict[str, Any]:
    """Return what a server of this kind is asked, all but the model."""
    prompt = request.prompt
    body: dict[str, Any] = {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_k": sampling.tokens_considered,
        "seed": request.seed,
    }
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if prompt.stop:
        body["stop"] = list(prompt.stop)
    if chat:
        return {
            "messages": [{"role": role, "content": text} for role, text in prompt.turns],
            **body,
        }
    return {"prompt": prompt.text, **body}


def completion_of(request: Request, said: dict[str, Any], model: str, seconds: float) -> Completion:
    """Read an answer of such a server; whatever is missing in it, it may send next time."""
    try:
        choice = said["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        usage = said.get("usage") or {}
        return answered(
            request,
            _text(text),
            model=model,
            stop=StopReason.LENGTH if choice.get("finish_reason") == LENGTH else StopReason.STOP,
            prompt_tokens=count(usage.get("prompt_tokens")),
            completion_tokens=count(usage.get("completion_tokens")),
            seconds=round(seconds, 6),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise PassingNoAnswer(f"{model}: an answer without a text ({error!r})") from None


def tokens_of(said: dict[str, Any]) -> list[Token] | None:
    """Return the tokens of an answer with their log-probabilities, None if it does not tell."""
    try:
        told = said["choices"][0]["logprobs"]
        if "content" in told:
            rows = [(one["token"], one["logprob"]) for one in told["content"]]
        else:
            rows = list(zip(told["tokens"], told["token_logprobs"], strict=True))
        return [Token(_text(text), float(logprob)) for text, logprob in rows]
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    if value is None:  # a model that said nothing
        return ""
    if not isinstance(value, str):
        raise TypeError(f"the text is a {type(value).__name__}")
    return value


def count(value: Any) -> int | None:
    """Return a number of tokens that a server says, if it is one."""
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else None
