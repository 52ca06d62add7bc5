"""Exactly what the model said, how it was asked, and why it stopped."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from proctor.records.prompt import Prompt


class StopReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    ERROR = "error"


TOP_K = 40
MAX_WHY = 1024


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is asked."""

    n_samples: int = 1
    temperature: float = 0.0
    """0 is greedy."""
    top_p: float | None = None
    top_k: int | None = None
    """None is 40 above temperature 0; 0 is all tokens."""
    max_tokens: int = 1024
    seed: int = 0
    """Of the first sample of every task; the others count on from there."""

    @property
    def tokens_considered(self) -> int:
        """How many of the likeliest tokens are drawn from; 0 is all."""
        if self.temperature == 0:
            return 1
        return TOP_K if self.top_k is None else self.top_k


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt that a model is to answer once."""

    prompt: Prompt
    sample: int
    id: str
    """`{index of the task}_s{sample}`."""
    seed: int

    @property
    def key(self) -> tuple[str, int]:
        """Which sample it is."""
        return self.prompt.task_id, self.sample


class Completion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of a model to one prompt."""

    task_id: str
    sample: int
    id: str
    """`{index of the task}_s{sample}`."""
    completion: str
    whole: bool = False
    """The text is a complete program to be run exactly as written (`solution` in samples files)."""
    stop: StopReason = StopReason.STOP
    prompt_sha256: str | None = None
    seed: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    model: str | None = None
    used_gpu: bool | None = None
    more: Mapping[str, Any] = {}
    """Fields of a samples file that we do not know; they are kept."""
    schema: int = 1

    @property
    def sha256(self) -> str:
        """Digest of the text."""
        return hashlib.sha256(self.completion.encode("utf-8", "surrogatepass")).hexdigest()


def completion_for(
    request: Request,
    text: str,
    *,
    model: str,
    stop: StopReason = StopReason.STOP,
    **more: Any,
) -> Completion:
    """Write down what a model said to a request."""
    return Completion(
        task_id=request.prompt.task_id,
        sample=request.sample,
        id=request.id,
        completion=text,
        stop=stop,
        prompt_sha256=request.prompt.sha256,
        seed=request.seed,
        model=model,
        **more,
    )


def failed_completion(request: Request, model: str, why: str) -> Completion:
    """Write down that a model did not answer."""
    error = {"error": why[:MAX_WHY]}
    return completion_for(request, "", model=model, stop=StopReason.ERROR, more=error)
