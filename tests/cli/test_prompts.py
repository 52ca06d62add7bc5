"""`proctor prompts` shows exactly what a model is asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.models.prompting import render_prompt

Proctor = Callable[..., Any]


@pytest.mark.parametrize("strategy", ["standard", "scot", "few-shot", "cgo"])
def test_shows_what_is_asked(proctor: Proctor, strategy: str) -> None:
    ran = proctor("prompts", "basics/add", "--prompt-strategy", strategy)
    task = next(task for task in load("basics").tasks if task.task_id == "basics/add")
    prompt = render_prompt(task, strategy, chat=True)  # type: ignore[arg-type]
    assert ran.status == 0
    assert ran.out == "\n\n".join(f"[{role}]\n{text}" for role, text in prompt.turns) + "\n"
    said = json.loads(proctor("prompts", "basics/add", "--prompt-strategy", strategy, "--json").out)
    assert said["turns"] == [list(turn) for turn in prompt.turns]
    assert (said["sha256"], said["strategy"], said["version"]) == (prompt.sha256, strategy, 1)


def test_shows_what_ends_an_answer(proctor: Proctor) -> None:
    ran = proctor("prompts", "basics/add", "--base")
    assert ran.out.startswith("def add(a: int, b: int) -> int:\n")
    assert ran.out.endswith(r"'\nassert ' '\n```'" + "\n")


def test_a_hostile_prompt_steers_no_terminal(proctor: Proctor, jsonl: Callable[..., Path]) -> None:
    tests = {"kind": "assertions", "targets": ["f(1)"]}
    evil = {"task_id": "x", "prompt": "a\x1b[31m\u202eb\nc", "tests": tests}
    file = jsonl("t.jsonl", [evil])
    shown = proctor("prompts", "x", "--benchmark", file).out
    assert "a\\x1b[31m\\u202eb\nc" in shown
    assert all(line.isprintable() for line in shown.splitlines())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope", "--benchmark", "basics"], "nope: is not a task of basics"),
        (["basics/add", "--base", "--prompt-strategy", "scot"], "--prompt-strategy scot: only for models that chat"),
        (["basics/add", "--benchmark", "none"], "none: no such benchmark or tasks file; known are "),
        (["basics/add", "--prompt-strategy", "x"], "Invalid value for '--prompt-strategy': 'x' is not one of "),
    ],
)  # fmt: skip
def test_bad_input(proctor: Proctor, args: list[str], said: str) -> None:
    ran = proctor("prompts", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(said)


def test_a_task_that_nobody_knows(proctor: Proctor) -> None:
    said = proctor("prompts", "no/such").complaint
    assert said.startswith("no/such: no such task; basics, humaneval, ")
    assert said.endswith("name its --benchmark")
