"""What was found in a long file is kept until the file is another one."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor import survey as module
from proctor.cache import Cache
from proctor.completion import Sampling
from proctor.errors import InputError
from proctor.models.recorded import Recorded
from proctor.models.reference import Reference
from proctor.survey import NAME, Survey, forget, survey
from proctor.task import Assertions, Benchmark, Task

TESTS = Assertions(targets=["f(1) == 1"])
TASKS = [Task(task_id=f"t{n}", tests=TESTS, canonical_solution="f = abs") for n in range(3)]
BENCHMARK = Benchmark(name="demo", tasks=TASKS)


class Counting(Recorded):
    """Counts how often all of a file is read."""

    times = 0

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Any:
        self.times += 1
        return super().complete(benchmark, sampling)


@pytest.fixture
def path(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "WORTH_KEEPING", 5)
    write(alone / "s.jsonl", 6)
    return alone / "s.jsonl"


def write(path: Path, samples: int, code: str = "f = abs") -> None:
    rows = [{"task_id": f"t{n % 3}", "solution": code} for n in range(samples)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def look(model: Recorded, benchmark: Benchmark = BENCHMARK) -> Survey:
    return survey(model, benchmark, Sampling())


def test_a_long_file_is_gone_through_once(path: Path) -> None:
    model = Counting(path)
    first = look(model)
    assert first.counts == Counter(t0=2, t1=2, t2=2)
    assert [look(model), look(Counting(path))] == [first, first]
    assert model.times == 1


def test_a_short_file_is_not_worth_it(path: Path) -> None:
    write(path, 4)
    model = Counting(path)
    assert look(model) == look(model)
    assert model.times == 2


def test_a_file_that_changed_is_another(path: Path) -> None:
    """Even if its length, and the time that it says it was changed, are the same."""
    model = Counting(path)
    first, before = look(model), path.stat()
    write(path, 6, "f = int")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert look(model).sha256 != first.sha256
    assert model.times == 2


def test_another_question_is_asked_anew(path: Path) -> None:
    model, field = Counting(path), Counting(path, "solution")
    fewer = Benchmark(name="demo", tasks=TASKS[:2], beyond=frozenset({"t2"}))
    look(model)
    assert look(model, fewer).counts == Counter(t0=2, t1=2)
    look(field)
    assert (model.times, field.times) == (2, 1)


def test_what_turned_out_wrong_is_forgotten(path: Path) -> None:
    model = Counting(path)
    look(model)
    forget(model, BENCHMARK)
    look(model)
    assert model.times == 2


def test_what_is_damaged_is_not_believed(path: Path) -> None:
    model = Counting(path)
    first = look(model)
    folder = Cache(NAME).folder
    assert folder is not None
    (kept,) = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:-3])
    assert look(model) == first
    assert model.times == 2


def test_what_is_wrong_with_a_file_is_said_by_who_reads_it(path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        look(Recorded(path.parent / "no such"))
    with path.open("a") as file:
        file.write("{\n")
    for _ in range(2):
        with pytest.raises(InputError, match="line 7"):
            look(Recorded(path))


def test_what_is_no_file_is_counted(path: Path) -> None:
    found = survey(Reference(), BENCHMARK, Sampling())
    assert found.counts == Counter(t0=1, t1=1, t2=1)
