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


Maker = Callable[[str, ProviderRequest], Provider]


def _openai(name: str, asked: ProviderRequest) -> Provider:
    from proctor.models.http import ServedModel  # noqa: PLC0415  heavy, as are all of these
    from proctor.models.openai import OpenAI  # noqa: PLC0415

    served_model = ServedModel(
        asked.max_in_flight or ServedModel().max_in_flight, asked.request_seconds
    )
    return OpenAI(name, url=asked.url, key=asked.key, chat=asked.chat, served_model=served_model)


def _anthropic(name: str, asked: ProviderRequest) -> Provider:
    from proctor.models.anthropic import Anthropic  # noqa: PLC0415
    from proctor.models.http import ServedModel  # noqa: PLC0415

    served_model = ServedModel(
        asked.max_in_flight or ServedModel().max_in_flight, asked.request_seconds
    )
    return Anthropic(name, url=asked.url, key=asked.key, chat=asked.chat, served_model=served_model)


def _llama(name: str, asked: ProviderRequest) -> Provider:
    from proctor.models.llama import Llama, find_weights  # noqa: PLC0415

    return Llama(find_weights(name), chat=asked.chat, max_in_flight=asked.max_in_flight)


def _transformers(name: str, asked: ProviderRequest) -> Provider:
    from proctor.models.transformers import Transformers  # noqa: PLC0415

    return Transformers(
        Path(name), chat=asked.chat, batch_size=asked.max_in_flight, device=asked.device
    )


def _command(name: str, asked: ProviderRequest) -> Provider:
    from proctor.models.command import Command  # noqa: PLC0415

    return Command(name, chat=asked.chat, batch=asked.batch)


PROVIDERS: dict[str, Maker] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "llama": _llama,
    "transformers": _transformers,
    "command": _command,
}
EXTRAS = {
    "openai": "models",
    "anthropic": "models",
    "llama": "llama",
    "transformers": "transformers",
}
"""Provider → the extra of Proctor that it needs."""

KNOWN = ("reference", "wrong", "recorded:FILE", *(f"{name}:NAME" for name in PROVIDERS))


def open_provider(name: str, asked: ProviderRequest) -> Provider:
    """Open the provider that PROVIDER:NAME or a path names."""
    provider, rest = provider_of(name)
    maker = PROVIDERS.get(provider) or _plugged_in(provider)
    if maker is None:
        raise _unknown(name)
    try:
        return maker(rest, asked)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(provider)
        if extra is None:
            raise
        raise InputError(
            f"--model {name}: {error.name} is not installed; "
            f"run `pip install '.[{extra}]'` in Proctor's folder"
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


def _plugged_in(provider: str) -> Maker | None:
    plugged = load_plugins(GROUP, object, PROVIDERS, provider)
    if provider in plugged.broken:
        raise InputError(f"--model {provider}: {plugged.broken[provider]}")
    return cast("Maker | None", plugged.found.get(provider))
