"""A prompt is shown where it can be found, and only if it is the one that was asked."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.benchmarks import load
from proctor.models.prompting import render_prompt
from proctor.records.limits import Limits
from proctor.records.receipt import Manifest, Receipt
from proctor.viewer.prompts import Prompts, RecoveredPrompt

TASK = {
    "task_id": "a",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "tests": {"kind": "assertions", "targets": ["f(1) == 2"]},
}


@pytest.fixture
def tasks(jsonl: Callable[..., Path]) -> Path:
    return jsonl("tasks.jsonl", [TASK])


def ask(
    manifest: Callable[..., Manifest],
    receipt: Callable[..., Receipt],
    tasks: Path,
    **changes: object,
) -> RecoveredPrompt | str:
    digest = load(str(tasks)).tasks[0].sha256
    made = receipt(**{"task_sha256": digest, "limits": Limits(), **changes})
    return Prompts().find(manifest(source=str(tasks), benchmark="tasks"), made, None)


def test_the_prompt(
    manifest: Callable[..., Manifest], receipt: Callable[..., Receipt], tasks: Path
) -> None:
    assert ask(manifest, receipt, tasks) == RecoveredPrompt("def f(x):\n", exact=False)


@pytest.mark.parametrize(
    ("strategy", "chat"), [("standard", False), ("scot", True), ("few-shot", True)]
)
def test_exactly_what_the_model_was_shown(
    manifest: Callable[..., Manifest],
    receipt: Callable[..., Receipt],
    tasks: Path,
    strategy: str,
    chat: bool,
) -> None:
    task = load(str(tasks)).tasks[0]
    prompt = render_prompt(task, strategy, chat=chat)
    said = manifest(source=str(tasks), benchmark="tasks", strategy=strategy)
    made = receipt(task_sha256=task.sha256)
    assert Prompts().find(said, made, prompt.sha256) == RecoveredPrompt(prompt.text, exact=True)


def test_a_benchmark_by_name(
    manifest: Callable[..., Manifest], receipt: Callable[..., Receipt]
) -> None:
    basics = load("basics")
    task = basics.tasks[0]
    said = manifest(source=basics.source, benchmark="basics")
    found = Prompts().find(said, receipt(task_id=task.task_id, task_sha256=task.sha256), None)
    assert isinstance(found, RecoveredPrompt)
    assert found.text == task.prompt


def test_the_time_limit_is_not_the_question(
    manifest: Callable[..., Manifest], receipt: Callable[..., Receipt], tasks: Path
) -> None:
    from msgspec.structs import replace

    limits = Limits(wall_seconds=99.0)
    digest = replace(load(str(tasks)).tasks[0], limits=limits).sha256
    found = ask(manifest, receipt, tasks, limits=limits, task_sha256=digest)
    assert isinstance(found, RecoveredPrompt)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_sha256": "00"}, "is not the one that was judged"),
        ({"task_id": "b"}, "has no such task"),
    ],
)
def test_another_task(
    manifest: Callable[..., Manifest],
    receipt: Callable[..., Receipt],
    tasks: Path,
    changes: dict[str, str],
    said: str,
) -> None:
    found = ask(manifest, receipt, tasks, **changes)
    assert isinstance(found, str)
    assert said in found


def test_no_such_file_a_pipe_or_nonsense(
    manifest: Callable[..., Manifest], receipt: Callable[..., Receipt], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nonsense").write_text("{")
    for number, name in enumerate(("none", "pipe", "nonsense", "", "a\0b")):
        said = manifest(source=str(tmp_path / name), benchmark_sha256=str(number))
        assert isinstance(Prompts().find(said, receipt(), None), str)


def test_a_file_that_is_too_large(
    manifest: Callable[..., Manifest],
    receipt: Callable[..., Receipt],
    tasks: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proctor.viewer.prompts.MAX_BYTES", 10)
    assert "too large" in str(Prompts().find(manifest(source=str(tasks)), receipt(), None))
