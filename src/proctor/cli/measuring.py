"""Flags of the commands that measure a model, and how they open it."""

from typing import Annotated

import typer

from proctor.errors import InputError
from proctor.models.providers import Asked, Provider, open_provider

Model = Annotated[str, typer.Option(help="PROVIDER:NAME, or the path of weights.")]
Url = Annotated[str | None, typer.Option(help="Address of the server, for openai: and anthropic:.")]
Device = Annotated[
    str | None, typer.Option(help="Where transformers: computes, as in cuda:1 or cpu.")
]
Chat = Annotated[
    bool | None,
    typer.Option(help="Chat, or go on with a text.", show_default="what the model is made for"),
]


def open_asked(
    name: str,
    *,
    url: str | None = None,
    device: str | None = None,
    chat: bool | None = None,
    at_once: int | None = None,
) -> Provider:
    """Open a model that can be asked, with its server's address and key as they are set."""
    from proctor.models import given  # noqa: PLC0415
    from proctor.settings import load_settings, server_of  # noqa: PLC0415

    settings = load_settings()
    if given(name) is not None:
        raise InputError(
            f"--model {name}: its answers are there already; name one that can be asked"
        )
    set_url, key = server_of(name.partition(":")[0], settings)
    asked = Asked(url=url or set_url, key=key, device=device, chat=chat, at_once=at_once)
    return open_provider(name, asked)
