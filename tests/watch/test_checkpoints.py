"""A checkpoint counts when it is complete, and is known by its path and its content."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.watch.checkpoints import (
    INDEX,
    Checkpoint,
    Finder,
    IncompleteCheckpoint,
    has_not_changed,
    is_whole,
)
from proctor.watch.config import Config

Make = Callable[..., Path]
Configure = Callable[..., Config]


def tensors(path: Path, size: int = 64) -> bytes:
    """Write a file of safetensors with one tensor of so many bytes."""
    header = json.dumps(
        {"__metadata__": {}, "w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    ).encode()
    whole = len(header).to_bytes(8, "little") + header + bytes(range(size))
    path.write_bytes(whole)
    return whole


def index(folder: Path, *shards: object) -> None:
    (folder / INDEX).write_text(
        json.dumps({"weight_map": {f"t{n}": s for n, s in enumerate(shards)}})
    )


def reasons(finder: Finder) -> list[str]:
    return [one.why for one in finder.look() if isinstance(one, IncompleteCheckpoint)]


def complete(finder: Finder) -> list[Checkpoint]:
    return [one for one in finder.look() if isinstance(one, Checkpoint)]


def test_a_marker(config: Configure, checkpoint: Make) -> None:
    folder = checkpoint("step-1")
    (folder / "DONE").unlink()
    finder = Finder(config())
    assert reasons(finder) == ["DONE is not there"]
    (folder / "DONE").touch()
    [found] = complete(finder)
    assert found.path == str(folder.resolve())
    assert has_not_changed(found)


def test_shards(config: Configure, alone: Path) -> None:
    finder = Finder(config(complete="shards", marker=""))
    folder = alone / "checkpoints" / "step-1"
    folder.mkdir()
    assert reasons(finder) == ["it is empty"]
    tensors(folder / "model-1.safetensors")
    assert reasons(finder) == [f"{INDEX} is not there"]
    index(folder, "model-1.safetensors", "model-2.safetensors")
    assert reasons(finder) == [f"model-2.safetensors, which {INDEX} names, is not there"]
    whole = tensors(folder / "model-2.safetensors")
    for size in (0, 4, 40, len(whole) - 1):
        (folder / "model-2.safetensors").write_bytes(whole[:size])
        assert reasons(finder) == ["model-2.safetensors is not whole"]
    (folder / "model-2.safetensors").write_bytes(whole)
    assert len(complete(finder)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"weight_map": 3}',
        '{"weight_map": {}}',
        '{"weight_map": {"a": 1, "b": "x"}}',
        '{"weight_map": {"a": "../../secret"}}',
        "[" * 100_000,
    ],
)
def test_an_index_that_is_none(config: Configure, checkpoint: Make, text: str) -> None:
    (checkpoint("step-1") / INDEX).write_text(text)
    [why] = reasons(Finder(config(complete="shards", marker="")))
    assert why.startswith("it cannot be read: model.safetensors.index.json ")


@pytest.mark.parametrize(
    "header", [b"{}", b"[]", b'{"a": 1}', b'{"a": {"data_offsets": []}}', b"\xff"]
)
def test_a_header_that_is_none(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"more")
    assert not is_whole(path)
    path.write_bytes(b"\xff" * 64)
    assert not is_whole(path)


def test_what_settles(config: Configure, checkpoint: Make) -> None:
    folder = checkpoint("step-1")
    now = 100.0
    finder = Finder(config(complete="settled", marker="", settle_seconds=10.0), lambda: now)
    assert reasons(finder) == ["unchanged for 0 of 10 s"]
    now += 9
    assert reasons(finder) == ["unchanged for 9 of 10 s"]
    (folder / "more").write_text("x")
    assert reasons(finder) == ["unchanged for 0 of 10 s"]
    now += 10
    assert len(complete(finder)) == 1
    (folder / "more").write_text("y")
    assert reasons(finder) == ["unchanged for 0 of 10 s"]


def test_shards_are_looked_at_while_it_settles(config: Configure, checkpoint: Make) -> None:
    folder = checkpoint("step-1")
    whole = tensors(folder / "model.safetensors")
    (folder / "model.safetensors").write_bytes(whole[:-1])
    finder = Finder(config(complete="settled", marker="", settle_seconds=0.0))
    assert reasons(finder) == ["model.safetensors is not whole"]


def test_one_last_name_is_not_one_checkpoint(config: Configure, checkpoint: Make) -> None:
    one, other = checkpoint("a/step-1"), checkpoint("b/step-1")
    (other / "weights.json").write_bytes((one / "weights.json").read_bytes())
    first, second = complete(Finder(config(pattern="*/step-*")))
    assert first.fingerprint == second.fingerprint
    assert first.digest != second.digest


def test_two_ways_to_one_checkpoint_are_one(
    config: Configure, checkpoint: Make, alone: Path
) -> None:
    folder = checkpoint("step-1")
    (alone / "checkpoints" / "latest").symlink_to(folder)
    assert [one.path for one in complete(Finder(config()))] == [str(folder.resolve())]


def test_another_content_is_another_checkpoint(config: Configure, checkpoint: Make) -> None:
    folder = checkpoint("step-1")
    (folder / "below").mkdir()
    (folder / "below" / "part").write_text("one")
    finder = Finder(config())
    [first] = complete(finder)
    (folder / "below" / "part").write_text("two")
    [second] = complete(finder)
    assert first.path == second.path
    assert first.digest != second.digest
    assert not has_not_changed(first)
    assert has_not_changed(second)


def test_what_is_no_checkpoint(config: Configure, checkpoint: Make, alone: Path) -> None:
    checkpoint(".hidden")
    (alone / "checkpoints" / "notes.txt").write_text("x")
    (alone / "checkpoints" / "model.gguf").write_text("x")
    looked = Finder(config(complete="settled", marker="", settle_seconds=0.0)).look()
    assert [Path(one.path).name for one in looked] == ["model.gguf"]


def test_what_goes_away_while_it_is_looked_at(config: Configure, checkpoint: Make) -> None:
    (checkpoint("step-1") / "link").symlink_to("nowhere")
    [why] = reasons(Finder(config()))
    assert why.startswith("it cannot be read: ")
