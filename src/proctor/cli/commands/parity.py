"""`proctor parity`: whether two backends say the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import model_options, options, setup
from proctor.cli.model_options import (
    ModelOptions,
    live_provider,
    provider_kind,
    sequential_concurrency,
)
from proctor.cli.progress import StepBar
from proctor.errors import InputError
from proctor.measure.parity import (
    Parity,
    ask_model,
    compare_models,
    judge_parity,
    prompts_of,
    read_prompts,
)
from proctor.models.providers import has_flag
from proctor.records.completion import Sampling
from proctor.report import json as as_json
from proctor.report.text import printable
from proctor.settings import load_settings

SHOWN = 10
"""Divergences that the text shows; JSON has them all."""


def parity(
    a: Annotated[str, typer.Argument(help="A model: PROVIDER:NAME, or the path of weights.")],
    b: Annotated[str, typer.Argument(help="The model that should say the same.")],
    *,
    benchmark: Annotated[str, typer.Option(help="Whose prompts both are asked.")] = "basics",
    data: options.Data = None,
    prompts: Annotated[
        Path | None, typer.Option(help="JSONL whose rows have a field prompt, in its place.")
    ] = None,
    samples: Annotated[
        int, typer.Option(min=0, help="Take the first so many prompts; 0: all.")
    ] = 0,
    max_tokens: model_options.TokenLimit = 64,
    chat: model_options.Chat = None,
    base_url: model_options.BaseUrl = None,
    base_url_b: Annotated[
        str | None,
        typer.Option("--base-url-b", help="Address of the server of B, if it has its own."),
    ] = None,
    device: model_options.Device = None,
    gate: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exit with 1 if a larger share of the texts differs."),
    ] = None,
    gate_logprob: Annotated[
        float | None,
        typer.Option(
            min=0, help="Exit with 1 if log-probabilities differ by more, in nats on the average."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Ask two backends the same, greedily: where do they part, how far are they from each other."""
    if prompts is not None:
        own = read_prompts(prompts)
    else:
        loaded, _ = setup.open_benchmark(benchmark, data, load_settings())
    sampling = Sampling(max_tokens=max_tokens)
    first = _asking(a, url=base_url, chat=chat, device=device)
    second = _asking(b, url=base_url_b or base_url, chat=chat, device=device)
    with live_provider(first) as one, live_provider(second) as other:
        if one.chat is not other.chat:
            raise InputError(f"{a}, {b}: only one of them chats; say --chat or --base")
        asked = own if prompts else prompts_of(loaded, chat=one.chat)
        asked = asked[:samples] if samples else asked
        with StepBar("asking both", 2 * len(asked)) as bar:
            sides = [ask_model(provider, asked, sampling, bar.step) for provider in (one, other)]
    found = compare_models(sides[0], sides[1], sampling)
    if gate is not None or gate_logprob is not None:
        found = judge_parity(found, gate, gate_logprob)
    typer.echo(as_json.render(found) if json else "\n".join(_lines(found)))
    if found.degraded or (found.gate is not None and not found.gate.passed):
        raise typer.Exit(1)


def _asking(name: str, *, url: str | None, chat: bool | None, device: str | None) -> ModelOptions:
    """Gather how one of the two is asked; the flags are for whichever of them can heed them."""
    kind = provider_kind(name)
    return ModelOptions(
        model=name,
        base_url=url if has_flag(kind, "base_url") else None,
        chat=chat,
        device=device if has_flag(kind, "device") else None,
        concurrency=sequential_concurrency(name),
    )


def _lines(found: Parity) -> Iterator[str]:

    yield f"A {printable(found.a)}\nB {printable(found.b)}\n"
    share = f"{100 * found.differing_share:.1f} %  [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    yield f"  {found.differing} of {found.prompts} texts differ   {share}  (wilson)"
    if found.logprobs is None:
        yield f"  no log-probabilities: {printable(found.no_logprobs or '')}"
    else:
        told = found.logprobs
        yield (
            f"  log-probabilities of {told.tokens} tokens that both say: B - A is "
            f"{told.mean_difference:+.4g} on the average, {told.mean_absolute:.4g} without the "
            f"sign, {told.largest:.4g} at most"
        )
    for one in found.divergences[:SHOWN]:
        yield f"  {printable(one.task_id)} parts at character {one.position}"
        yield f"    A {printable(one.a)}\n    B {printable(one.b)}"
    if len(found.divergences) > SHOWN:
        yield f"  and {len(found.divergences) - SHOWN} more; --json has them all"
    for task_id, why in found.failures.items():
        yield f"  DEGRADED: no answer to {printable(task_id)}: {printable(why)}"
    if found.gate is not None:
        yield f"  gate: {'passed' if found.gate.passed else 'NO: ' + printable(found.gate.why)}"
