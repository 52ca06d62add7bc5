"""`proctor generate`: ask a model, and leave the judging to others."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import model_options, options, setup
from proctor.cli.interrupt import Interrupt
from proctor.cli.messages import INTERRUPTED, complain
from proctor.cli.model_options import ModelOptions, open_model
from proctor.cli.progress import AnswerBar
from proctor.grading.generate import Generation
from proctor.grading.generate import generate as generate_answers
from proctor.report import json as as_json
from proctor.report.text import printable
from proctor.settings import load_settings

DEGRADED = 1


def generate(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    model: model_options.Model,
    out: Annotated[Path, typer.Option(help="File for the completions; an existing one goes on.")],
    *,
    data: options.Data = None,
    release: options.Release = None,
    start_date: options.StartDate = None,
    end_date: options.EndDate = None,
    samples: options.FirstTasks = 0,
    n_samples: model_options.NSamples = None,
    temperature: model_options.Temperature = None,
    top_p: model_options.TopP = None,
    top_k: model_options.TopK = None,
    max_tokens: model_options.MaxTokens = None,
    preset: model_options.Preset = None,
    prompt_strategy: model_options.PromptStrategy = None,
    mbpp_prompt: model_options.MbppPrompt = None,
    base_url: model_options.BaseUrl = None,
    chat: model_options.Chat = None,
    concurrency: model_options.Concurrency = None,
    request_timeout: model_options.RequestTimeout = None,
    batch: model_options.Batch = None,
    device: model_options.Device = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over in an existing file.")] = False,
    json: options.Json = False,
    seed: model_options.Seed = 0,
) -> None:
    """Ask a model and write down its answers; `proctor score` judges them, here or elsewhere."""
    asking = ModelOptions(
        model=model,
        seed=seed,
        n_samples=n_samples,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_tokens=max_tokens,
        preset=preset,
        prompt_strategy=prompt_strategy,
        mbpp_prompt=mbpp_prompt,
        base_url=base_url,
        chat=chat,
        concurrency=concurrency,
        request_timeout=request_timeout,
        batch=batch,
        device=device,
    )
    asking.check()
    settings = load_settings()
    selection = setup.parse_selection(release, start_date, end_date)
    loaded, _ = setup.open_benchmark(benchmark, data, settings, selection=selection)
    chosen = loaded.first(samples) if samples else loaded
    interrupt = Interrupt()
    try:
        with open_model(asking, settings) as opened, AnswerBar() as bar:
            interrupt.listen()
            found = generate_answers(
                chosen,
                opened,
                asking.sampling(),
                out,
                fresh=fresh,
                stop=interrupt.stop,
                begin=bar.begin,
                watch=bar.watch,
            )
    except KeyboardInterrupt:
        complain("interrupted; the same command without --fresh goes on")
        if interrupt.now:
            sys.stderr.flush()
            os._exit(INTERRUPTED)  # threads still wait for the model
        raise typer.Exit(INTERRUPTED) from None
    finally:
        interrupt.restore()
    typer.echo(as_json.render(found) if json else _told(found, benchmark))
    if found.unanswered or not found.complete:
        raise typer.Exit(DEGRADED)


def _told(found: Generation, benchmark: str) -> str:
    asked = f"{found.samples} answers of {found.model} to {found.tasks} tasks"
    lines = [f"{asked}, {found.completion_tokens} tokens"]
    if found.cut_off:
        lines.append(f"{found.cut_off} of them are cut off at --max-tokens")
    if found.unanswered:
        lines.append(f"{found.unanswered} of them are no answers: the file says why")
    lines.append(f"proctor score {benchmark} --completions {found.file}")
    return "\n".join(map(printable, lines))
