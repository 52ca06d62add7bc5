"""`proctor generate`: ask a model, and leave the judging to others."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import INTERRUPTED, complain
from proctor.cli import model_options as a
from proctor.cli import options as o
from proctor.cli.interrupt import Interrupt
from proctor.cli.progress import Answers
from proctor.grading.generate import Generation
from proctor.grading.generate import generate as generate_answers
from proctor.report import json as as_json
from proctor.report.text import printable
from proctor.settings import load_settings

DEGRADED = 1


def generate(
    benchmark: Annotated[str, typer.Argument(help="Benchmark by name, or path of a tasks file.")],
    model: a.Model,
    out: Annotated[Path, typer.Option(help="File for the completions; an existing one goes on.")],
    *,
    data: o.Data = None,
    release: o.Release = None,
    start_date: o.StartDate = None,
    end_date: o.EndDate = None,
    samples: o.FirstTasks = 0,
    n_samples: a.NSamples = None,
    temperature: a.Temperature = None,
    top_p: a.TopP = None,
    top_k: a.TopK = None,
    max_tokens: a.MaxTokens = None,
    preset: a.Preset = None,
    prompt_strategy: a.PromptStrategy = None,
    mbpp_prompt: a.MbppPrompt = None,
    base_url: a.BaseUrl = None,
    chat: a.Chat = None,
    concurrency: a.Concurrency = None,
    request_timeout: a.RequestTimeout = None,
    batch: a.Batch = None,
    device: a.Device = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over in an existing file.")] = False,
    json: o.Json = False,
    seed: a.Seed = 0,
) -> None:
    """Ask a model and write down its answers; `proctor score` judges them, here or elsewhere."""
    asking = a.ModelOptions(
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
    choice = o.choose(release, start_date, end_date)
    loaded, _ = o.open_benchmark(benchmark, data, None, None, settings, choice=choice)
    chosen = loaded.first(samples) if samples else loaded
    interrupt = Interrupt()
    try:
        with a.opened(asking, settings) as opened, Answers() as bar:
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
