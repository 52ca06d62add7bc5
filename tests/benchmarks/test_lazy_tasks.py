"""Many tasks in little memory."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import lazy_tasks, load
from proctor.benchmarks.lazy_tasks import IndexedTasks
from proctor.errors import InputError
from proctor.records.task import Benchmark

Write = Callable[..., Path]
Proctor = Callable[..., Any]


def row(number: int, filling: int = 10) -> dict[str, Any]:
    return {
        "task_id": f"t/{number}",
        "entry_point": "f",
        "prompt": "x" * filling,
        "tests": {"kind": "assertions", "targets": [f"f({number}) == {number + 1}"]},
        "canonical_solution": "def f(x):\n    return x + 1\n",
    }


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_tasks, "HELD_BYTES", 1000)
    monkeypatch.setattr(lazy_tasks, "KEPT", 3)


def packed(path: Path) -> Path:
    other = path.with_name(path.name + ".gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    return other


def both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Benchmark, Benchmark]:
    """Load a file into memory and as indexed tasks."""
    with monkeypatch.context() as patch:
        patch.setattr(lazy_tasks, "HELD_BYTES", 1 << 30)
        held = load(str(path))
    return held, load(str(path))


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize("form", ["plain", "packed", "array"])
def test_indexed_tasks_equal_a_list(
    jsonl: Write, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    path = jsonl("t.jsonl", [row(number) for number in range(50)])
    if form == "packed":
        path = packed(path)
    elif form == "array":
        path.write_text(json.dumps([row(number) for number in range(50)], indent=1))
    held, indexed = both(path, monkeypatch)
    assert isinstance(held.tasks, list)
    assert isinstance(indexed.tasks, IndexedTasks)
    assert list(indexed.tasks) == list(held.tasks)
    assert (indexed.sha256, indexed.ids) == (held.sha256, held.ids)
    assert indexed.memory_bytes == held.memory_bytes
    assert indexed.tasks[-1] == held.tasks[-1]
    assert indexed.finder()("t/17") == held.finder()("t/17")
    first, other = indexed.first(7), held.first(7)
    assert (first.sha256, first.beyond, list(first.tasks)) == (
        other.sha256,
        other.beyond,
        list(other.tasks),
    )
    with pytest.raises(IndexError):
        indexed.tasks[50]
    with pytest.raises(KeyError):
        indexed.finder()("t/50")


@pytest.mark.usefixtures("small_memory")
def test_a_task_asked_for_again_is_the_same(jsonl: Write) -> None:
    benchmark = load(str(jsonl("t.jsonl", [row(number) for number in range(50)])))
    assert benchmark.tasks[5] is benchmark.tasks[5]


@pytest.mark.usefixtures("small_memory")
def test_several_threads_read_indexed_tasks(jsonl: Write) -> None:
    benchmark = load(str(packed(jsonl("t.jsonl", [row(number) for number in range(60)]))))
    find = benchmark.finder()
    wanted = [f"t/{number * 7 % 60}" for number in range(600)]
    with ThreadPoolExecutor(8) as pool:
        assert [task.task_id for task in pool.map(find, wanted)] == wanted


@pytest.mark.usefixtures("small_memory")
def test_a_file_that_changes_is_noticed(jsonl: Write) -> None:
    path = jsonl("t.jsonl", [row(number) for number in range(50)])
    benchmark = load(str(path))
    path.write_text(path.read_text().replace("x + 1", "x + 2"))
    with pytest.raises(InputError, match=r"t.jsonl, line 31: the file has changed since"):
        benchmark.tasks[30]


@pytest.mark.usefixtures("small_memory")
def test_run_with_indexed_tasks(jsonl: Write, proctor: Proctor, alone: Path) -> None:
    path = jsonl("t.jsonl", [row(number) for number in range(50)])
    ran = proctor(
        "run", path, "--model", "reference", "--samples", 20, "--out", alone / "o", "--json"
    )
    assert (ran.status, json.loads(ran.out)["passed"]) == (0, 20), ran.err


MEASURE = """
import resource, sys
from pathlib import Path
from proctor.benchmarks import load

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
benchmark = load(sys.argv[1])
assert len(benchmark.tasks) == int(sys.argv[2]), len(benchmark.tasks)
benchmark.sha256
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_100000_tasks_in_bounded_memory(tmp_path: Path) -> None:
    """A file four times as large takes hardly more memory."""
    used = []
    for filling in (1000, 4000):
        path = tmp_path / "many.jsonl"
        with path.open("w") as file:
            file.writelines(json.dumps(row(number, filling)) + "\n" for number in range(100_000))
        command = [sys.executable, "-c", MEASURE, str(path), "100000"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        used.append(int(answer.stdout))
    assert used[0] < 300_000, used  # KiB
    assert used[1] < used[0] + 50_000, used
