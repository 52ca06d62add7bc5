"""The file of a watcher: paths count from it, and whatever makes no sense is one sentence."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.watch.config import Config, read_config

Configured = Callable[..., Path]


def test_paths_count_from_the_file(
    configured: Configured, tasks: Callable[..., Path], alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks()
    path = configured(benchmarks=["demo.jsonl", "basics"])
    monkeypatch.chdir("/")
    config = read_config(path)
    assert config.folders == [str(alone / "checkpoints")]
    assert config.results == str(alone / "results")
    assert config.benchmarks == [str(alone / "demo.jsonl"), "basics"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "reference"}, "field model must have {checkpoint} in it"),
        ({"model": "nobody:{checkpoint}"}, "field model: no such provider; known are reference"),
        ({"model": "weights/{checkpoint}"}, "field model: no such provider"),
        ({"folders": []}, "field folders must be"),
        ({"benchmarks": ["a", "a"]}, "field benchmarks names one of them twice"),
        ({"marker": ""}, "field marker names a file if, and only if"),
        ({"complete": "settled"}, "field marker names a file if, and only if"),
        ({"complete": "when it is"}, "field complete cannot be 'when it is'"),
        ({"marker": "a/DONE"}, "field marker must be the name of a file"),
        ({"pattern": "../*"}, "field pattern must be"),
        ({"poll_seconds": 0}, "field poll_seconds must be"),
        ({"lease_seconds": "long"}, "field lease_seconds must be a number"),
        ({"attempts": 0}, "field attempts must be"),
        ({"nonsense": 1}, "field nonsense is not known"),
        ({"results": ""}, "field results is missing"),
    ],
)
def test_what_makes_no_sense(configured: Configured, changes: dict[str, Any], said: str) -> None:
    path = configured(**changes)
    with pytest.raises(InputError) as error:
        read_config(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    "more", ["n_samples = 0", "max_tokens = 0", "temperature = 11.0", "n_smples = 3"]
)
def test_sampling_within_bounds(configured: Configured, more: str) -> None:
    path = configured()
    path.write_text(path.read_text() + f"[sampling]\n{more}\n")
    with pytest.raises(InputError, match="field sampling"):
        read_config(path)


def test_a_path_is_one_word_of_a_command(config: Callable[..., Config]) -> None:
    path = "/a b/it's; rm -rf x"
    command = config(model="command:python answer.py {checkpoint}").model_of(path)
    assert shlex.split(command.removeprefix("command:")) == ["python", "answer.py", path]
    assert config(model="transformers:{checkpoint}").model_of(path) == f"transformers:{path}"
