"""Models behind Anthropic's protocol."""

import time
from typing import Any

from proctor.errors import InputError, PassingNoAnswer
from proctor.models.http import Endpoint, HttpProvider, ServedModel, served_model
from proctor.models.openai_protocol import count
from proctor.models.providers import ProviderRequest
from proctor.records.completion import Completion, Request, Sampling, StopReason, completion_for

ANTHROPIC = "https://api.anthropic.com"
KEY = "ANTHROPIC_API_KEY"
VERSION = "2023-06-01"


def open_model(name: str, asked: ProviderRequest) -> "Anthropic":
    """Open a model by its name."""
    return Anthropic(
        name, url=asked.url, key=asked.key, chat=asked.chat, served_model=served_model(asked)
    )


class Anthropic(HttpProvider):
    """One model, for chat only."""

    chat = True

    def __init__(
        self,
        model: str,
        *,
        url: str | None,
        key: str | None,
        chat: bool | None,
        served_model: ServedModel,
    ) -> None:
        name = f"anthropic:{model}"
        if chat is False:
            raise InputError(f"--model {name}: these models chat, they do not continue a text")
        if key is None and url is None:
            raise InputError(f"--model {name}: put a key into {KEY}")
        self._model = model
        headers = {"x-api-key": key or "none", "anthropic-version": VERSION}
        super().__init__(
            name, Endpoint(url or ANTHROPIC, headers, KEY, served_model), served_model.max_in_flight
        )

    def _ask(self, request: Request, sampling: Sampling) -> Completion:
        begin = time.monotonic()
        return self._endpoint.post(
            "/v1/messages",
            self._body(request, sampling),
            lambda said: self._read(request, said, time.monotonic() - begin),
        )

    def _read(self, request: Request, said: dict[str, Any], seconds: float) -> Completion:
        try:
            usage = said.get("usage") or {}
            return completion_for(
                request,
                "".join(part["text"] for part in said["content"] if part["type"] == "text"),
                model=self.name,
                stop=_stop(said.get("stop_reason")),
                prompt_tokens=count(usage.get("input_tokens")),
                completion_tokens=count(usage.get("output_tokens")),
                seconds=round(seconds, 6),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise PassingNoAnswer(f"{self.name}: an answer without a text ({error!r})") from None

    def _body(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        turns = request.prompt.turns
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "messages": [
                {"role": role, "content": text} for role, text in turns if role != "system"
            ],
        }
        if sampling.temperature > 0 and sampling.tokens_considered:
            body["top_k"] = sampling.tokens_considered
        if sampling.top_p is not None:
            body["top_p"] = sampling.top_p
        if request.prompt.stop:
            body["stop_sequences"] = list(request.prompt.stop)
        system = [text for role, text in turns if role == "system"]
        return {**body, "system": "\n".join(system)} if system else body


def _stop(reason: Any) -> StopReason:
    return StopReason.LENGTH if reason == "max_tokens" else StopReason.STOP
