"""Checkpoints made here, saved and loaded as any other."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.models.prompting import render_prompt
from proctor.records.completion import Completion, Request, Sampling, StopReason
from proctor.records.prompt import Prompt
from tests.models.checkpoints import save_known_bad, save_known_good

TASKS = load("basics").tasks[:5]
PAIRS = [
    (render_prompt(task).text, "\n" + (task.canonical_solution or "").partition("\n")[2])
    for task in TASKS
]


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "good", lambda folder: save_known_good(folder, PAIRS))


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [prompt + answer for prompt, answer in PAIRS]
    return once(tmp_path_factory, "bad", lambda folder: save_known_bad(folder, texts))


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Make a folder once for all workers of this session."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, beside = shared / name, shared / f"{name}.being-made"
    while not folder.exists():
        try:
            beside.mkdir()
        except FileExistsError:
            time.sleep(0.1)
            continue
        if not folder.exists():
            make(beside)
            beside.rename(folder)
    return folder


def requests(stop: tuple[str, ...] = ()) -> Iterator[Request]:
    for index, (text, _) in enumerate(PAIRS):
        prompt = Prompt(task_id=f"t/{index}", text=text, stop=stop)
        yield Request(prompt=prompt, sample=0, id=f"{index}_s0", seed=index)


def ask(
    folder: Path, sampling: Sampling, batch: int = 2, stop: tuple[str, ...] = ()
) -> list[Completion]:
    from proctor.models.transformers import Transformers

    model = Transformers(folder, chat=None, batch_size=batch, device="cpu")
    assert not model.chat, "there is no template in it"
    return list(model.answer(requests(stop), sampling, threading.Event()))


@pytest.mark.parametrize("batch", [1, 3, 5])
def test_one_that_knows_them_by_heart(good: Path, batch: int) -> None:
    said = ask(good, Sampling(max_tokens=90), batch)
    assert [one.completion for one in said] == [answer for _, answer in PAIRS]
    assert all(one.stop is StopReason.STOP for one in said)
    assert said[0].prompt_tokens == len(PAIRS[0][0])
    assert said[0].completion_tokens == len(PAIRS[0][1])
    assert said[0].used_gpu is False


def test_one_that_knows_nothing(bad: Path) -> None:
    said = ask(bad, Sampling(max_tokens=20))
    assert not {one.completion for one in said} & {answer for _, answer in PAIRS}


def test_a_cut_answer_says_so(good: Path) -> None:
    said = ask(good, Sampling(max_tokens=5))
    assert [one.stop for one in said] == [StopReason.LENGTH] * 5
    assert [one.completion for one in said] == ["\n    "] * 5


def test_stops_where_it_is_told_to(good: Path) -> None:
    said = ask(good, Sampling(max_tokens=90), 3, ("return",))
    assert [one.completion for one in said] == ["\n    "] * 5
    assert all(one.stop is StopReason.STOP for one in said)
    assert said[0].completion_tokens is not None
    assert said[0].completion_tokens < len(PAIRS[0][1])


def test_the_same_seed_draws_the_same(bad: Path) -> None:
    sampling = Sampling(max_tokens=20, temperature=1.0)
    first, second = ask(bad, sampling), ask(bad, sampling)
    assert [one.completion for one in first] == [one.completion for one in second]
    assert first[0].completion != ask(bad, Sampling(max_tokens=20))[0].completion


def test_what_does_not_fit_is_unanswered(good: Path) -> None:
    said = {one.task_id: one for one in ask(good, Sampling(max_tokens=512 - 200))}
    too_long = {key for key, one in said.items() if one.stop is StopReason.ERROR}
    assert too_long == {f"t/{n}" for n, (prompt, _) in enumerate(PAIRS) if len(prompt) > 200}
    assert too_long == {"t/4"}
    assert "longer than the 512 tokens" in said["t/4"].more["error"]


@pytest.mark.slow
@pytest.mark.parametrize(("which", "passed"), [("good", 5), ("bad", 0)])
def test_a_run_tells_a_good_checkpoint_from_a_bad_one(
    request: pytest.FixtureRequest, proctor: Callable[..., Any], which: str, passed: int
) -> None:
    """By its path alone, as any checkpoint."""
    folder = request.getfixturevalue(which)
    args = ("--samples", "5", "--max-tokens", "90", "--device", "cpu", "--out", "run", "--json")
    ran = proctor("run", "basics", "--model", folder, *args)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert (found["model"], found["samples"]) == (f"transformers:{folder.name}", 5)
    assert (found["passed"], found["unscored"]) == (passed, 0)
    assert found["pass_at_k"]["1"]["value"] == passed / 5
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert len(manifest["weights_sha256"]) == 64


@pytest.mark.slow
def test_another_checkpoint_is_another_run(
    good: Path, bad: Path, proctor: Callable[..., Any], alone: Path
) -> None:
    for source in (good, bad):
        Path("checkpoint").unlink(missing_ok=True)
        Path("checkpoint").symlink_to(source)
        args = ("--samples", "1", "--max-tokens", "50", "--out", "run")
        ran = proctor("run", "basics", "--model", "checkpoint", *args)
        if source is good:
            assert ran.status == 0, ran.err
    assert ran.status == 2
    assert ran.complaint.startswith("run belongs to another run: its weights_sha256 is ")


def test_a_folder_without_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no config\.json"):
        ask(tmp_path, Sampling())


def test_a_checkpoint_that_is_broken(good: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((good / "config.json").read_text())
    with pytest.raises(InputError, match="cannot be loaded"):
        ask(tmp_path, Sampling())
