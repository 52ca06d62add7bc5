"""OpenAI's protocol, which many others speak: what is asked, and what an answer means."""

from typing import Any

from proctor.errors import PassingNoAnswer
from proctor.models.logprobs import Token
from proctor.records.completion import Completion, Request, Sampling, StopReason, completion_for

LENGTH = "length"


def request_body(request: Request, sampling: Sampling, *, chat: bool) -> dict[str, Any]:
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


def parse_completion(
    request: Request, said: dict[str, Any], model: str, seconds: float
) -> Completion:
    """Read an answer of such a server; whatever is missing in it, it may send next time."""
    try:
        choice = said["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        usage = said.get("usage") or {}
        return completion_for(
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


def parse_logprobs(said: dict[str, Any]) -> list[Token] | None:
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
