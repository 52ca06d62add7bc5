"""Models behind a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp, Ollama, OpenAI."""

import threading
import time
from collections.abc import Iterator

from proctor.completion import Completion, Request, Sampling
from proctor.models.asking import ask_all
from proctor.models.endpoint import Endpoint, Serving
from proctor.models.wording import body_of, completion_of

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


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

    def _ask(self, request: Request, sampling: Sampling) -> Completion:
        body = {"model": self._model, **body_of(request, sampling, chat=self.chat)}
        if self._strict:
            del body["top_k"]
            body["max_completion_tokens"] = body.pop("max_tokens")
        path = "/chat/completions" if self.chat else "/completions"
        begin = time.monotonic()
        return self._endpoint.post(
            path,
            body,
            lambda said: completion_of(request, said, self.name, time.monotonic() - begin),
        )
