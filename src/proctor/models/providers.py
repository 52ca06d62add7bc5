"""Models that can be asked: PROVIDER:NAME, or the path of weights.

    openai:NAME              any server that speaks OpenAI's protocol
    anthropic:NAME           Anthropic's
    llama:PATH or smollm2    a GGUF file, by llama.cpp in this process
    transformers:PATH        a checkpoint, by transformers in this process
    command:PROGRAM …        any program that reads and writes JSON lines

Others are found by the entry points `proctor.models`: a function that takes NAME and a
`ProviderRequest` and returns a `Provider`.
"""

import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from proctor.errors import InputError
from proctor.plugins import load_plugins
from proctor.records.completion import Completion, Request, Sampling

GROUP = "proctor.models"


class ProviderRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a model that the user asked for."""

    url: str | None = None
    """Address of the server, for models that have one."""
    key: str | None = None
    """API key; never written anywhere."""
    chat: bool | None = None
    """Chat or plain completion; None: as the model prefers."""
    max_in_flight: int | None = None
    """Maximum number of concurrent requests, or the size of a batch."""
    request_seconds: float = 600.0
    batch: bool = True
    """Load the model once for all prompts."""
    device: str | None = None


class Provider(Protocol):
    """Something that answers prompts."""

    name: str
    """Its name in manifests."""
    chat: bool
    """Whether it takes chat messages instead of a text to continue."""

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests in any order; when `stop` is set, start no new one."""
        ...

    def close(self) -> None:
        """Release its resources."""
        ...


OpenModel = Callable[[str, ProviderRequest], Provider]


class ProviderSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of this package, whose module is imported when it is used."""

    module: str
    """Its `open_model` takes NAME and a `ProviderRequest` and returns a `Provider`."""
    usage: str
    """What a user may write for --model."""
    extra: str = ""
    """The extra of Proctor that it needs."""
    flags: frozenset[str] = frozenset()
    """Those flags that not every provider has."""


SERVER_FLAGS = frozenset({"base_url", "request_timeout", "concurrency", "top_p"})
PROVIDERS = {
    "openai": ProviderSpec(
        module="openai", usage="openai:NAME", extra="models", flags=SERVER_FLAGS
    ),
    "anthropic": ProviderSpec(
        module="anthropic", usage="anthropic:NAME", extra="models", flags=SERVER_FLAGS
    ),
    "llama": ProviderSpec(
        module="llama",
        usage="llama:FILE.gguf, llama:smollm2",
        extra="llama",
        flags=frozenset({"concurrency", "top_p"}),
    ),
    "transformers": ProviderSpec(
        module="transformers",
        usage="transformers:FOLDER",
        extra="transformers",
        flags=frozenset({"device", "concurrency", "top_p"}),
    ),
    "command": ProviderSpec(module="command", usage="command:PROGRAM"),
}
USAGE = ", ".join(spec.usage for spec in PROVIDERS.values())
KNOWN = ("reference", "wrong", "recorded:FILE", *(f"{name}:NAME" for name in PROVIDERS))


def has_flag(provider: str, flag: str) -> bool:
    """Return whether a provider of this package has one of the flags that not all have."""
    spec = PROVIDERS.get(provider)
    return spec is not None and flag in spec.flags


def open_provider(name: str, asked: ProviderRequest) -> Provider:
    """Open the provider that PROVIDER:NAME or a path names."""
    provider, rest = provider_of(name)
    spec = PROVIDERS.get(provider)
    if spec is None:
        open_plugin = _plugged_in(provider)
        if open_plugin is None:
            raise _unknown(name)
        return open_plugin(rest, asked)
    try:
        module = import_module(f"{__package__}.{spec.module}")
        return cast("Provider", module.open_model(rest, asked))
    except ModuleNotFoundError as error:
        if not spec.extra:
            raise
        raise InputError(
            f"--model {name}: {error.name} is not installed; "
            f"run `pip install '.[{spec.extra}]'` in Proctor's folder"
        ) from None


def provider_of(name: str) -> tuple[str, str]:
    """Split PROVIDER:NAME into provider and name; the provider may be unknown."""
    provider, colon, rest = name.partition(":")
    if not colon:
        provider, rest = _recognise(name), name
    if not provider or not rest:
        raise _unknown(name)
    return provider, rest


def _unknown(name: str) -> InputError:
    if "/" in name and ":" not in name:
        return InputError(f"--model {name}: neither a .gguf file nor a folder with config.json")
    return InputError(f"--model {name}: no such provider; known are {', '.join(KNOWN)}")


def _recognise(path: str) -> str:
    """Return the provider of a bare path: a GGUF file, or a folder with a checkpoint."""
    if path.endswith(".gguf"):
        return "llama"
    return "transformers" if (Path(path) / "config.json").is_file() else ""


def _plugged_in(provider: str) -> OpenModel | None:
    plugged = load_plugins(GROUP, object, PROVIDERS, provider)
    if provider in plugged.broken:
        raise InputError(f"--model {provider}: {plugged.broken[provider]}")
    return cast("OpenModel | None", plugged.found.get(provider))
