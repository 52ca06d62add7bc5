"""How the commands that measure a model open it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from proctor.cli.model_options import MOST_TOKENS, ModelOptions
from proctor.errors import InputError
from proctor.models import recorded_model
from proctor.models.providers import Provider, provider_of
from proctor.settings import load_settings

Model = Annotated[
    str,
    typer.Option(
        help="openai:NAME, anthropic:NAME, llama:FILE.gguf, llama:smollm2, transformers:FOLDER, "
        "command:PROGRAM, or the path of weights."
    ),
]
MaxTokens = Annotated[int, typer.Option(min=1, max=MOST_TOKENS, help="Cut an answer off here.")]


@contextmanager
def measured(asking: ModelOptions) -> Iterator[Provider]:
    """Open a model that can be asked, and let go of it in the end."""
    asking.check()
    provider = asking.provider(load_settings())
    try:
        yield provider
    finally:
        provider.close()


def kind_of(model: str) -> str:
    """Return whose model it is; one that has answered already cannot be asked."""
    if recorded_model(model) is not None:
        raise InputError(f"--model {model}: is asked nothing, its answers are there already")
    return provider_of(model)[0]


def one_at_a_time(model: str) -> int | None:
    """Return the concurrency that keeps prompts apart; a program has its own."""
    return None if kind_of(model) == "command" else 1
