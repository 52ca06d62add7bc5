"""What was found in a long file is kept until the file is another one."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor import survey as module
from proctor.cache import Cache
from proctor.completion import Completion, Sampling
from proctor.errors import InputError
from proctor.journal import Key, Samples
from proctor.lines import encode
from proctor.models.recorded import Begin, Recorded
from proctor.models.reference import Reference
from proctor.survey import NAME, Copied, Survey, forget, survey
from proctor.task import Assertions, Benchmark, Task

TESTS = Assertions(targets=["f(1) == 1"])
TASKS = [Task(task_id=f"t{n}", tests=TESTS, canonical_solution="f = abs") for n in range(3)]
BENCHMARK = Benchmark(name="demo", tasks=TASKS)


class Counting(Recorded):
    """Counts how often all of a file is read."""

    times = 0

    def completions(self, benchmark: Benchmark, begin: Begin | None = None) -> Any:
        self.times += begin is None
        return super().completions(benchmark, begin)


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


# Going on behind what is written down


ROWS: dict[str, list[Any]] = {
    "plain": [{"task_id": f"t{n % 3}", "solution": f"f = {n}"} for n in range(12)],
    "several a row": [
        {"question_id": f"t{n % 3}", "code_list": [f"f = {n}", f"f = -{n}"]} for n in range(6)
    ],
    "some of other tasks": [
        {"task_id": f"t{n % 4}", "solution": f"f = {n}\u00e9"} for n in range(14)
    ],
}


@pytest.fixture(params=ROWS)
def found(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Survey:
    monkeypatch.setattr(module, "STEP", 3)
    lines = [json.dumps(row) + "\n" for row in ROWS[request.param]]
    lines[2:2] = ["\n"]
    path.write_text("".join(lines))
    return look(Recorded(path), SOME)


SOME = Benchmark(name="demo", tasks=TASKS, beyond=frozenset({"t3"}))


def completions(path: Path) -> list[Completion]:
    return list(Recorded(path).complete(SOME, Sampling()))


def graded(path: Path, count: int) -> Samples:
    return Samples(Key(one.task_id, one.sample) for one in completions(path)[:count])


def test_what_is_written_down_is_passed_over(path: Path, found: Survey) -> None:
    """Wherever a run was torn, all completions are had once, and their digest is that of all."""
    every = completions(path)
    assert len(found.marks) >= 2
    lines = [encode(one) + b"\n" for one in every]
    most = 0
    for count in range(len(every) + 1):
        Path("copied").write_bytes(b"".join(lines[:count]) + b'{"torn')
        copied = Copied(Path("copied"), lambda _, __: True, found.marks, graded(path, count - 1))
        assert len(copied.samples) == count
        assert copied.passed <= max(0, count - 1)
        assert copied.undone == 0
        most = max(most, copied.passed)
        rest = list(copied.rest(Recorded(path), SOME, Sampling()))
        assert rest == every[copied.passed :]
        for one in rest:
            copied.digest.update(encode(one) + b"\n")
        assert copied.digest.hexdigest() == found.sha256
    assert most == found.marks[-1].samples


def test_what_is_not_as_it_was_found_is_read_again(path: Path, found: Survey) -> None:
    """Somebody took a line out, or changed one; and what was not graded is counted."""
    every = completions(path)
    lines = [encode(one) + b"\n" for one in every]
    second = found.marks[1].samples
    for changed in (
        lines[:4] + lines[5:],
        [*lines[:4], lines[4].replace(b"f =", b"g ="), *lines[5:]],
    ):
        Path("copied").write_bytes(b"".join(changed))
        copied = Copied(Path("copied"), lambda _, __: True, found.marks, graded(path, 1))
        assert copied.passed == found.marks[0].samples < second
        assert copied.undone == copied.passed - 1
        assert list(copied.rest(Recorded(path), SOME, Sampling())) == every[copied.passed :]


def test_what_cannot_be_read_from_the_middle_has_no_marks(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEP", 1)
    packed = path.with_name("s.jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert look(Recorded(path)).marks
    for model in (Recorded(packed), Reference()):
        assert not survey(model, BENCHMARK, Sampling()).marks
        copied = Copied(Path("none"), lambda _, __: True, (), Samples())
        assert len(list(copied.rest(model, BENCHMARK, Sampling()))) in (3, 6)
