"""Checkpoints made here, saved and loaded as any other."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.completion import Completion, Request, Sampling, StopReason
from proctor.errors import InputError
from proctor.prompt import Prompt
from tests.models.checkpoints import save_known_bad, save_known_good

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

PAIRS = [
    ("def add(a, b):\n", "    return a + b\n"),
    ("def is_even(n):\n", "    return n % 2 == 0\n"),
    ('def first(items):\n    """The first of them."""\n', "    return items[0]\n"),
]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    save_known_good(folder, PAIRS)
    return folder


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    save_known_bad(folder, [a + b for a, b in PAIRS])
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


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_one_that_knows_them_by_heart(good: Path, batch: int) -> None:
    said = ask(good, Sampling(max_tokens=60), batch)
    assert [one.completion for one in said] == [answer for _, answer in PAIRS]
    assert all(one.stop is StopReason.STOP for one in said)
    assert said[0].prompt_tokens == len(PAIRS[0][0])
    assert said[0].completion_tokens == len(PAIRS[0][1])
    assert said[0].used_gpu is False


def test_one_that_knows_nothing(bad: Path) -> None:
    said = ask(bad, Sampling(max_tokens=20))
    assert not {one.completion for one in said} & {answer for _, answer in PAIRS}


def test_a_cut_answer_says_so(good: Path) -> None:
    said = ask(good, Sampling(max_tokens=4))
    assert [one.stop for one in said] == [StopReason.LENGTH] * 3
    assert [one.completion for one in said] == ["    "] * 3


def test_stops_where_it_is_told_to(good: Path) -> None:
    said = ask(good, Sampling(max_tokens=60), 3, ("return",))
    assert [one.completion for one in said] == ["    "] * 3
    assert all(one.stop is StopReason.STOP for one in said)
    assert said[0].completion_tokens is not None
    assert said[0].completion_tokens < len(PAIRS[0][1])


def test_the_same_seed_draws_the_same(bad: Path) -> None:
    sampling = Sampling(max_tokens=20, temperature=1.0)
    first, second = ask(bad, sampling), ask(bad, sampling)
    assert [one.completion for one in first] == [one.completion for one in second]
    assert first[0].completion != ask(bad, Sampling(max_tokens=20))[0].completion


def test_what_does_not_fit_is_unanswered(good: Path) -> None:
    said = ask(good, Sampling(max_tokens=480))
    assert [one.stop for one in said] == [StopReason.STOP, StopReason.STOP, StopReason.ERROR]
    assert "longer than the 512 tokens" in said[2].more["error"]


def test_a_folder_without_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no config\.json"):
        ask(tmp_path, Sampling())


def test_a_checkpoint_that_is_broken(good: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((good / "config.json").read_text())
    with pytest.raises(InputError, match="cannot be loaded"):
        ask(tmp_path, Sampling())
