"""Flags that say which model is asked, and how; and what they come to."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, NamedTuple

import typer

from proctor.errors import InputError
from proctor.models import RecordedModel, recorded_model
from proctor.models.generated import GenerativeModel
from proctor.models.prompting import Strategy, TestsShown
from proctor.models.providers import (
    PROVIDERS,
    USAGE,
    Provider,
    ProviderRequest,
    has_flag,
    open_provider,
    provider_of,
)
from proctor.records.completion import Sampling
from proctor.settings import Settings, load_settings, server_of

MAX_SAMPLES, MAX_TOKENS, MAX_CONCURRENCY = 1 << 20, 1 << 20, 4096
MAX_TEMPERATURE, MAX_SECONDS, MAX_SEED = 10.0, 86400.0, 1 << 31
PRESETS: dict[str, tuple[int, float]] = {
    "greedy": (1, 0.0),
    "pass@1": (10, 0.8),
    "pass@10": (100, 0.8),
}
"""Samples of a task, and temperature."""

Model = Annotated[
    str,
    typer.Option(help=f"{USAGE}, the path of weights, recorded:FILE, reference or wrong."),
]
NSamples = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_SAMPLES, help="Completions of each task; 1 if nothing is said."),
]
Temperature = Annotated[
    float | None,
    typer.Option(help="0, as if nothing is said: the likeliest token; above: drawn by chance."),
]
TopP = Annotated[
    float | None, typer.Option(help="Draw from the likeliest tokens of so much probability.")
]
TopK = Annotated[
    int | None,
    typer.Option(min=0, help="Draw from so many of the likeliest tokens; 0: all; else 40."),
]
LiveModel = Annotated[
    str,
    typer.Option(help=f"{USAGE}, or the path of weights."),
]
"""A model that can still be asked: no recorded answers."""
TokenLimit = Annotated[int, typer.Option(min=1, max=MAX_TOKENS, help="Cut an answer off here.")]
MaxTokens = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_TOKENS, help="Cut an answer off here; 1024 if nothing is said."),
]
Preset = Annotated[
    Literal["greedy", "pass@1", "pass@10"] | None,
    typer.Option(
        help="greedy: 1 sample at temperature 0; pass@1: 10 at 0.8; pass@10: 100 at 0.8. "
        "What other flags say wins."
    ),
]
PromptStrategy = Annotated[
    Strategy | None, typer.Option(help="How the question is put to models that chat.")
]
MbppPrompt = Annotated[
    TestsShown | None,
    typer.Option(help="What a question in prose tells of its tests; name+tests by default."),
]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of the server, as in http://localhost:8000/v1.")
]
Chat = Annotated[
    bool | None,
    typer.Option("--chat/--base", help="Chat with the model, or have it go on with a text."),
]
Concurrency = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_CONCURRENCY, help="Requests under way, or prompts in one batch."),
]
RequestTimeout = Annotated[
    float | None, typer.Option(help="Seconds for one request; 600 if nothing is said.")
]
Batch = Annotated[
    Literal["auto", "on", "off"] | None,
    typer.Option(help="off: one prompt after the other, and a new process for each command."),
]
Device = Annotated[
    str | None, typer.Option(help="Where a checkpoint computes, as in cpu or cuda:1.")
]
Seed = Annotated[
    int, typer.Option(min=0, max=MAX_SEED, help="Seed of the samples and of the bootstrap.")
]


class ModelOptions(NamedTuple):
    """What the flags say; None where they say nothing."""

    model: str
    seed: int = 0
    n_samples: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    preset: str | None = None
    prompt_strategy: Strategy | None = None
    mbpp_prompt: TestsShown | None = None
    base_url: str | None = None
    chat: bool | None = None
    concurrency: int | None = None
    request_timeout: float | None = None
    batch: str | None = None
    device: str | None = None

    def sampling(self) -> Sampling:
        """Return how often and how a model is asked."""
        n_samples, temperature = PRESETS[self.preset or "greedy"]
        usual = Sampling()
        return Sampling(
            n_samples=n_samples if self.n_samples is None else self.n_samples,
            temperature=temperature if self.temperature is None else self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=usual.max_tokens if self.max_tokens is None else self.max_tokens,
            seed=self.seed,
        )

    def check(self) -> None:
        """Refuse what cannot be heeded, before anything is loaded."""
        _within("--temperature", self.temperature, 0, MAX_TEMPERATURE)
        _within("--top-p", self.top_p, 0, 1)
        _within("--request-timeout", self.request_timeout, 0, MAX_SECONDS)
        said = {name for name in self._fields[2:] if getattr(self, name) is not None}
        if recorded_model(self.model) is not None:
            for name in self._fields[3:]:
                if name in said:
                    raise InputError(
                        f"{_flag(name, chat=self.chat)}: {self.model} is asked nothing, "
                        f"its answers are there already"
                    )
            return
        provider, _ = provider_of(self.model)
        for name in self._fields if provider in PROVIDERS else ():
            having = [kind for kind in PROVIDERS if has_flag(kind, name)]
            if name in said and having and provider not in having:
                raise InputError(f"{_flag(name)}: only for {', '.join(having)}, not {provider}")
        if self.batch == "off" and (self.concurrency or 1) > 1:
            raise InputError(f"--concurrency {self.concurrency}: is no use with --batch off")
        for name in ("top_p", "top_k"):
            if name in said and self.sampling().temperature == 0:
                raise InputError(f"{_flag(name)}: is no use at temperature 0; set --temperature")

    def open(self, settings: Settings) -> RecordedModel | GenerativeModel:
        """Return the completions that are there, or a model that can be asked for them."""
        there = recorded_model(self.model)
        if there is not None:
            return there
        strategy, shown = self.prompt_strategy or "standard", self.mbpp_prompt or "name+tests"
        return GenerativeModel(self.provider(settings), strategy, shown)

    def provider(self, settings: Settings) -> Provider:
        """Return a model that can be asked, with its server's address and key as they are set."""
        kind, _ = provider_of(self.model)
        url, key = server_of(kind, settings)
        if kind == "openai" and self.top_k is not None and not (self.base_url or url):
            raise InputError("--top-k: OpenAI's own server does not know it; --top-p does the like")
        asked = ProviderRequest(
            url=self.base_url or url,
            key=key,
            chat=self.chat,
            max_in_flight=1 if self.batch == "off" else self.concurrency,
            request_seconds=self.request_timeout or ProviderRequest().request_seconds,
            batch=self.batch != "off",
            device=self.device,
        )
        provider = open_provider(self.model, asked)
        if has_flag(kind, "base_url"):
            from proctor.models.http import be_quiet  # noqa: PLC0415  it may be missing

            be_quiet()
        return provider


@contextmanager
def open_model(
    asking: ModelOptions, settings: Settings
) -> Iterator[RecordedModel | GenerativeModel]:
    """Open a model, and let go of it in the end."""
    model = asking.open(settings)
    try:
        yield model
    finally:
        if isinstance(model, GenerativeModel):
            model.close()


@contextmanager
def live_provider(asking: ModelOptions) -> Iterator[Provider]:
    """Open a model that can still be asked, and let go of it in the end."""
    asking.check()
    provider = asking.provider(load_settings())
    try:
        yield provider
    finally:
        provider.close()


def provider_kind(model: str) -> str:
    """Return the name of a model's provider; recorded answers have none."""
    if recorded_model(model) is not None:
        raise InputError(f"--model {model}: is asked nothing, its answers are there already")
    return provider_of(model)[0]


def sequential_concurrency(model: str) -> int | None:
    """Return the concurrency that keeps prompts apart; a program has its own."""
    return None if provider_kind(model) == "command" else 1


def _flag(name: str, *, chat: bool | None = None) -> str:
    if name == "chat":
        return "--chat" if chat else "--base"
    return f"--{name.replace('_', '-')}"


def _within(flag: str, value: float | None, min_value: float, max_value: float) -> None:
    """Reject a number out of bounds; 0 is only a valid temperature."""
    if value is None:
        return
    fits = min_value <= value <= max_value and (value > 0 or flag == "--temperature")
    if not (fits and math.isfinite(value)):
        above = "from 0" if flag == "--temperature" else "above 0 and"
        raise InputError(f"{flag} {value:g}: must be {above} up to {max_value:g}")
