"""Exactly what the model said, how it was asked, and why it stopped."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class StopReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    ERROR = "error"


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is asked."""

    n_samples: int = 1
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int = 1024
    seed: int = 0


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
