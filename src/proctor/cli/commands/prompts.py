"""`proctor prompts`: exactly what a model is shown."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli import model_options, options, setup
from proctor.errors import InputError
from proctor.models.prompting import VERSION, render_prompt
from proctor.records.prompt import Prompt
from proctor.records.task import Task
from proctor.report import json as as_json
from proctor.report.text import printable
from proctor.settings import Settings, load_settings

SEARCHED = ("basics", "humaneval", "mbpp", "bigcodebench", "leetcode")
"""Whose tasks are found by their id alone; the others are large, or have the same ids."""


def prompts(
    task: Annotated[str, typer.Argument(help="Id of a task, as in HumanEval/0.")],
    *,
    benchmark: Annotated[
        str | None, typer.Option(help="Benchmark or tasks file that the task is of.")
    ] = None,
    data: options.Data = None,
    prompt_strategy: model_options.PromptStrategy = "standard",
    mbpp_prompt: model_options.MbppPrompt = "name+tests",
    chat: Annotated[
        bool, typer.Option("--chat/--base", help="For models that chat, or that go on with a text.")
    ] = True,
    json: options.Json = False,
) -> None:
    """Show a prompt as a model gets it, with what ends the answer."""
    found = _find(task, benchmark, data, load_settings())
    strategy, shown = prompt_strategy or "standard", mbpp_prompt or "name+tests"
    prompt = render_prompt(found, strategy, chat=chat, shown=shown)
    if json:
        record = {"strategy": strategy, "version": VERSION, "chat": chat, "sha256": prompt.sha256}
        fields = ("task_id", "text", "turns", "stop")
        typer.echo(as_json.render({**record, **{name: getattr(prompt, name) for name in fields}}))
        return
    typer.echo(_shown(prompt))


def _find(task_id: str, name: str | None, data: Path | None, settings: Settings) -> Task:
    """Return the task of an id, in the benchmark that is named or in those that are at hand."""
    for one in SEARCHED if name is None else (name,):
        try:
            loaded, _ = setup.open_benchmark(one, data, settings)
        except InputError:
            if name is not None:
                raise
            continue  # it is not on this machine
        known = loaded.aliases.get(task_id, task_id)
        if known in loaded.ids:
            return loaded.finder()(known)
    if name is not None:
        raise InputError(f"{task_id}: is not a task of {name}")
    searched = f"{', '.join(SEARCHED)} were looked through, as far as they are here"
    raise InputError(f"{task_id}: no such task; {searched}; name its --benchmark")


def _shown(prompt: Prompt) -> str:
    parts = [f"[{role}]\n{text}" for role, text in prompt.turns] or [prompt.text]
    lines = "\n\n".join(parts).split("\n")
    if prompt.stop:
        lines += ["", "[the answer ends before]", " ".join(map(repr, prompt.stop))]
    return "\n".join(map(printable, lines))
