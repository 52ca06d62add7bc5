"""What flags that several commands share come to."""

from pathlib import Path

import pytest

from proctor.benchmarks import load
from proctor.cli import setup
from proctor.cli.setup import (
    limits_for,
    open_benchmark,
    parse_bytes,
    parse_counts,
    parse_packages,
)
from proctor.errors import InputError
from proctor.records.limits import GIB, KIB, MIB, Limits
from proctor.settings import Settings


@pytest.mark.parametrize(
    ("text", "ks"),
    [("", []), (" ", []), ("1", [1]), ("1,10,100", [1, 10, 100]), (" 2 , 1 ", [2, 1])],
)
def test_lists_of_k(text: str, ks: list[int]) -> None:
    assert parse_counts("--k", text) == ks


@pytest.mark.parametrize(
    "text", ["0", "-1", "1,0", "one", "1.5", "1;2", "1,", ",", "1,,2", "1e3", "1_0", "٣", "9" * 30]
)
def test_k_that_is_none(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_counts("--k", text)
    assert str(caught.value) == f"--k {text}: must be whole numbers above 0, as in 1,10,100"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MiB", 512 * MIB),
        ("512M", 512 * MIB),
        ("512 mb", 512 * MIB),
        ("2G", 2 * GIB),
        (" 1.5GiB ", 3 * GIB // 2),
        ("1048576k", 1048576 * KIB),
        (str(64 * MIB), 64 * MIB),
        ("1t", 1 << 40),
    ],
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1G", "1e9", "1GG", "0x10", "1.2.3G", "G", "٣G"])
def test_memory_that_is_none(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_bytes(text)
    assert str(caught.value) == f"--memory {text}: write it as 512MiB or 2G"


@pytest.mark.parametrize("text", ["0", "1", "31MiB", "1025t", "9" * 400])
def test_memory_that_makes_no_sense(text: str) -> None:
    with pytest.raises(InputError, match=r"^--memory .*: must be from 32 MiB to 1024 TiB$"):
        parse_bytes(text)


@pytest.mark.parametrize("seconds", [0, -1, 300.1, float("nan"), float("inf")])
def test_times_that_make_no_sense(seconds: float) -> None:
    with pytest.raises(InputError, match=r"^--timeout .*: must be above 0 and up to 300$"):
        limits_for(seconds, None, Settings())


def test_the_longest_time_is_a_setting() -> None:
    limits_for(400, None, Settings(max_seconds=500))
    with pytest.raises(InputError, match=r"^--timeout 6: must be above 0 and up to 5$"):
        limits_for(6, None, Settings(max_seconds=5))


def test_limits_replace_only_what_was_given() -> None:
    own = Limits(cpu_seconds=7, wall_seconds=8, memory_bytes=9, open_files=5)
    assert limits_for(None, None, Settings())(own) == own
    new = limits_for(2.5, "1G", Settings())(own)
    assert (new.cpu_seconds, new.wall_seconds, new.memory_bytes) == (2.5, 2.5, GIB)
    assert new.open_files == 5
    assert limits_for(None, "1G", Settings())(own).wall_seconds == 8


def test_limits_reach_every_task_and_the_manifest(data: Path) -> None:
    benchmark, limits = open_benchmark("mbpp", data, Settings(), memory="2G")
    assert {task.limits.memory_bytes for task in benchmark.tasks} == {2 * GIB}
    assert {task.limits.wall_seconds for task in benchmark.tasks} == {10.0}
    assert limits == Limits(memory_bytes=2 * GIB)
    assert open_benchmark("mbpp", data, Settings())[1] is None


def test_a_changed_file_is_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "HumanEval.jsonl"
    path.write_text(
        '{"task_id": "HumanEval/0", "prompt": "", "entry_point": "f", "test": "def check(c): 0"}\n'
    )
    open_benchmark("humaneval", path, Settings())
    said = f"proctor: {path} is not the file that humaneval is published as\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("numpy", ["numpy"]),
        ("numpy, typing_extensions", ["numpy", "typing_extensions"]),
        ("none", []),
    ],
)
def test_packages(text, packages):
    assert parse_packages(text) == packages


@pytest.mark.parametrize("text", ["", "numpy,", "../numpy", "a b", "-x"])
def test_what_are_no_packages(text):
    with pytest.raises(InputError, match="--candidate-packages"):
        parse_packages(text)


def test_workers_fit_into_memory_unless_asked_for(monkeypatch, capsys):
    benchmark = load("humaneval")
    monkeypatch.setattr(setup, "admit_workers", lambda _: 3)
    monkeypatch.setattr(setup, "default_workers", lambda: 8)
    assert setup.workers_for(0, Settings(), benchmark) == 3
    assert setup.workers_for(2, Settings(), benchmark) == 2
    assert capsys.readouterr().err == ""
    assert setup.workers_for(0, Settings(workers=9), benchmark) == 9
    assert "9 workers may use more memory" in capsys.readouterr().err
    monkeypatch.setattr(setup, "admit_workers", lambda _: 0)
    assert setup.workers_for(0, Settings(), benchmark) == 1
