"""`proctor perplexity`: how well a model predicts a text."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import model_options, options
from proctor.cli.model_options import ModelOptions, live_provider, sequential_concurrency
from proctor.cli.progress import StepBar
from proctor.measure.perplexity import Perplexity, TextPerplexity, documents, measure_perplexity
from proctor.report import json as as_json
from proctor.report.text import printable

MAX_CONTEXT = 1 << 20


def perplexity(
    model: model_options.LiveModel,
    data: Annotated[
        Path, typer.Option(help="Text, or JSONL whose rows have a field text; also .gz and .zst.")
    ],
    *,
    context: Annotated[
        int,
        typer.Option(
            min=2,
            max=MAX_CONTEXT,
            help="Tokens of one window, if the model takes as many; windows overlap by half.",
        ),
    ] = 2048,
    base_url: model_options.BaseUrl = None,
    device: model_options.Device = None,
    json: options.Json = False,
) -> None:
    """Measure how well a model predicts a text, per token and per byte, with an interval."""
    count = sum(1 for _ in documents(data))  # whatever is wrong with it is said before the work
    asking = ModelOptions(
        model=model,
        base_url=base_url,
        device=device,
        concurrency=sequential_concurrency(model),
    )
    with live_provider(asking) as provider, StepBar("scoring", count) as bar:
        found = measure_perplexity(provider, data, context, bar.step)
    typer.echo(as_json.render(found) if json else _text(found))


def _text(found: Perplexity) -> str:

    seen = "each in one piece"
    if found.context is not None:
        seen = (
            f"in windows of {found.context} tokens, each token after at least "
            f"{found.least_context} or all before it"
        )
    skipped = found.unscored_tokens
    return (
        f"{printable(found.data)} · {printable(found.model)}\n\n"
        f"  perplexity per token  {_figure(found.per_token)}\n"
        f"  perplexity per byte   {_figure(found.per_byte)}   {found.bits_per_byte:.4f} bits\n\n"
        f"  {found.tokens} tokens, {found.bytes} bytes, {found.documents} documents, {seen}\n"
        + (f"  {skipped} first tokens have nothing before them: not scored\n" if skipped else "")
        + f"  {found.method}; {found.seconds:.1f} s"
    )


def _figure(figure: TextPerplexity) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.value:.4g}"
    return f"{figure.value:.4g}  [{figure.low:.4g}, {figure.high:.4g}]"
