"""`proctor bench`: how fast this host is, or a model."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from proctor.benchmarks import load
from proctor.cli import model_options, options, setup
from proctor.cli.model_options import ModelOptions, live_provider, sequential_concurrency
from proctor.errors import InputError
from proctor.measure.sandbox_speed import measure_sandbox, working_tiers
from proctor.measure.throughput import Throughput, measure_throughput
from proctor.models.prompting import render_prompt
from proctor.models.providers import Provider
from proctor.records.prompt import Prompt
from proctor.report import json as as_json
from proctor.sandbox.tiers.select import ORDER
from proctor.settings import default_workers

bench = typer.Typer(help="Measure how fast this host, or a model, is.", no_args_is_help=True)

Counts = Annotated[str, typer.Option("--workers", help="Numbers of workers, as in 1,2,4.")]
Seconds = Annotated[float, typer.Option(min=0.1, max=600, help="How long to measure each row.")]
HEADER = f"{'tier':<11}{'work':<10}{'workers':>7}{'per s':>9}{'p50 ms':>9}{'p95 ms':>9}{'MiB':>8}"

SPEEDS = (
    f"{'at once':>7}{'prompts/s':>11}{'tokens/s':>10}{'first token s':>15}{'answer s':>10}"
    f"{'load s':>8}{'MiB':>9}{'GPU MiB':>9}"
)
MAX_PROMPTS = 100_000


@bench.callback()
def callback() -> None:
    """Measure how fast this host, or a model, is."""


@bench.command()
def sandbox(
    *,
    sandbox: options.SandboxName = None,
    workers: Counts = "",
    seconds: Seconds = 2.0,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    json: options.Json = False,
) -> None:
    """Measure candidates a second, by tier, workers and kind of work, beside bare subprocesses."""
    counts = setup.parse_counts("--workers", workers) or sorted({1, default_workers()})
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    if sandbox is not None and sandbox not in ORDER:
        raise InputError(f"--sandbox {sandbox}: known are {', '.join(ORDER)}")
    tiers = working_tiers(python) if sandbox is None else [sandbox]
    rates = []
    if not json:
        typer.echo(f"{HEADER}  against a bare subprocess")
    for rate in measure_sandbox(tiers, counts, seconds, python):
        rates.append(rate)
        memory = "" if rate.memory_mib is None else f"{rate.memory_mib:.1f}"
        ratio = "" if rate.times_subprocess is None else f"{rate.times_subprocess:.1f}x"
        line = (
            f"{rate.tier:<11}{rate.work:<10}{rate.workers:>7}{rate.per_second:>9.1f}"
            f"{rate.p50_ms:>9.2f}{rate.p95_ms:>9.2f}{memory:>8}  {ratio}"
        )
        typer.echo(line.rstrip(), err=json)
    if json:
        typer.echo(as_json.render({"rates": rates}))


@bench.command()
def model(
    *,
    model: model_options.LiveModel,
    concurrency: Annotated[
        str, typer.Option(help="Requests under way, or prompts in one batch, as in 1,4,16.")
    ] = "1,4",
    prompts: Annotated[
        int, typer.Option(min=1, max=MAX_PROMPTS, help="How many prompts to ask for each row.")
    ] = 16,
    max_tokens: model_options.TokenLimit = 64,
    chat: model_options.Chat = None,
    base_url: model_options.BaseUrl = None,
    device: model_options.Device = None,
    json: options.Json = False,
) -> None:
    """Measure prompts and tokens a second, time to load and to the first token, and memory."""
    sizes: list[int | None] = [*(setup.parse_counts("--concurrency", concurrency) or [1])]
    if max(filter(None, sizes)) > model_options.MAX_CONCURRENCY:
        raise InputError(f"--concurrency {concurrency}: at most {model_options.MAX_CONCURRENCY}")
    if sequential_concurrency(model) is None:
        sizes = [None]  # a program reads as many prompts as it likes
    basics = load("basics")

    def open_with(size: int | None) -> AbstractContextManager[Provider]:
        asking = ModelOptions(
            model=model, base_url=base_url, device=device, chat=chat, concurrency=size
        )
        return live_provider(asking)

    def asked(chats: bool) -> Sequence[Prompt]:  # noqa: FBT001
        return [render_prompt(task, chat=chats) for task in basics.tasks]

    rows: list[Throughput] = []
    for row in measure_throughput(open_with, asked, sizes, prompts, max_tokens):
        if not rows:
            typer.echo(SPEEDS, err=json)
        rows.append(row)
        typer.echo(_speed(row), err=json)
    unanswered = sum(row.unanswered for row in rows)
    if json:
        found = {"model": model, "max_tokens": max_tokens, "rows": rows, "unanswered": unanswered}
        typer.echo(as_json.render({**found, "schema": 1}))
    if unanswered:
        typer.echo(f"proctor: {unanswered} prompts were not answered", err=True)
        raise typer.Exit(1)


def _speed(row: Throughput) -> str:
    def shown(value: float | None, width: int, places: int) -> str:
        return f"{'' if value is None else format(value, f'.{places}f'):>{width}}"

    return (
        f"{row.at_once or '':>7}{row.prompts_per_second:>11.2f}"
        f"{shown(row.tokens_per_second, 10, 1)}{shown(row.first_token_p50_seconds, 15, 3)}"
        f"{row.answer_p50_seconds:>10.3f}{shown(row.load_seconds, 8, 2)}"
        f"{shown(row.memory_mib, 9, 0)}{shown(row.gpu_memory_mib, 9, 0)}"
    ).rstrip()
