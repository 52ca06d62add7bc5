"""Models behind a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp, Ollama, OpenAI."""

import time
from collections.abc import Mapping
from typing import Any

from proctor.errors import NoAnswer, PassingNoAnswer
from proctor.models.http import Endpoint, HttpProvider, ServedModel, served_model
from proctor.models.logprobs import ScoredText, TracedTokens
from proctor.models.openai_protocol import parse_completion, parse_logprobs, request_body
from proctor.models.prompt_logprobs import PromptLogprobs
from proctor.models.providers import ProviderRequest
from proctor.records.completion import Completion, Request, Sampling

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


def open_model(name: str, asked: ProviderRequest) -> "OpenAI":
    """Open a model by its name."""
    return OpenAI(
        name, url=asked.url, key=asked.key, chat=asked.chat, served_model=served_model(asked)
    )


class OpenAI(HttpProvider):
    """One model of one server, for chat or for plain completion."""

    def __init__(
        self,
        model: str,
        *,
        url: str | None,
        key: str | None,
        chat: bool | None,
        served_model: ServedModel,
    ) -> None:
        self.chat = chat is not False
        self._model = model
        self._strict = url is None  # OpenAI itself rejects unknown fields
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        endpoint = Endpoint(url or OPENAI, headers, KEY, served_model)
        super().__init__(f"openai:{model}", endpoint, served_model.max_in_flight)

    def score(self, text: str, context: int) -> ScoredText:
        """Return the log-probabilities of a text, if the server reports them for prompts."""
        return PromptLogprobs(self.name, self._model, self._endpoint).score(text, context)

    def trace(self, request: Request, sampling: Sampling) -> TracedTokens:
        """Answer one request, with log-probabilities of its tokens if the server reports them."""
        try:
            return self._trace(request, sampling, {"logprobs": True if self.chat else 1})
        except PassingNoAnswer:
            raise
        except NoAnswer:  # some models reject requests for log-probabilities
            return self._trace(request, sampling, {})

    def _ask(self, request: Request, sampling: Sampling) -> Completion:
        return self._trace(request, sampling, {}).completion

    def _trace(self, request: Request, sampling: Sampling, more: Mapping[str, Any]) -> TracedTokens:
        body = {"model": self._model, **request_body(request, sampling, chat=self.chat), **more}
        if self._strict:
            del body["top_k"]
            body["max_completion_tokens"] = body.pop("max_tokens")
        path = "/chat/completions" if self.chat else "/completions"
        begin = time.monotonic()

        def read(said: dict[str, Any]) -> TracedTokens:
            completion = parse_completion(request, said, self.name, time.monotonic() - begin)
            return TracedTokens(completion, parse_logprobs(said))

        return self._endpoint.post(path, body, read)
