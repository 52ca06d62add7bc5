"""Running a part again: the same verdicts, or their names."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.grading.verify import choose_samples
from proctor.records.encoding import encode
from proctor.storage.run_directory import COMPLETIONS, RECEIPTS, read_manifest

Proctor = Callable[..., Any]
TASKS = [
    {
        "task_id": "t/1",
        "entry_point": "f",
        "tests": {"kind": "assertions", "targets": ["f() == 1"]},
    },
    {
        "task_id": "t/2",
        "entry_point": "f",
        "tests": {"kind": "assertions", "targets": ["f() == 2"]},
    },
]
SAMPLES = [
    {"task_id": "t/1", "solution": "def f():\n    return 1\n"},
    {"task_id": "t/1", "solution": "def f():\n    return 7\n"},
    {"task_id": "t/2", "solution": "def f(:\n"},
]


@pytest.fixture
def run(alone: Path, proctor: Proctor) -> Path:
    Path("tasks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in TASKS))
    Path("samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in SAMPLES))
    args = ("--completions", "samples.jsonl", "--out", "run", "--timeout", "7")
    assert proctor("score", "tasks.jsonl", *args).status == 0
    return Path("run")


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    def edited() -> Iterator[bytes]:
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            change(record)
            yield encode(record) + b"\n"

    path.write_bytes(b"".join(list(edited())))


def test_the_same_verdicts(run: Path, proctor: Proctor) -> None:
    before = (run / RECEIPTS).read_bytes()
    ran = proctor("verify", run, "--share", "1", "--json")
    assert (ran.status, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert (found["samples"], found["of"], found["same"], found["flakes"]) == (3, 3, 3, [])
    assert (run / RECEIPTS).read_bytes() == before


def test_a_verdict_that_differs(run: Path, proctor: Proctor) -> None:
    def lie(record: dict[str, Any]) -> None:
        if record["bucket"] == "wrong_answer":
            record.update(bucket="passed", outcome="pass", detail="\x1b[2J")

    edit(run / RECEIPTS, lie)
    ran = proctor("verify", run, "--share", "1")
    assert ran.status == 1
    assert "  2 verdicts came out the same, 1 differently\n" in ran.out
    assert "  t/1 #1\n    before: pass/passed, 0 tests passed: \\x1b[2J\n" in ran.out
    assert "    now:    assertion_fail/wrong_answer, 0 tests passed: wrong answer\n" in ran.out


def test_a_part_is_the_same_part_every_time(past_run: Callable[..., Path]) -> None:
    run = past_run("run", {f"t{n}": "P" for n in range(200)})
    manifest = read_manifest(run)
    part = choose_samples(run, manifest, 0.1, 1)
    assert 5 < len(part) < 45
    assert choose_samples(run, manifest, 0.1, 1).keys() == part.keys()
    assert choose_samples(run, manifest, 0.1, 2).keys() != part.keys()
    assert len(choose_samples(run, manifest, 1.0, 1)) == 200
    with pytest.raises(InputError, match="no receipt was drawn"):
        choose_samples(run, manifest, 0.0, 1)


def test_what_is_not_what_was_judged(run: Path, proctor: Proctor) -> None:
    place = Path("tasks.jsonl")
    text = place.read_text()
    place.write_text(text.replace("f() == 1", "f() == 3"))
    ran = proctor("verify", run, "--share", "1")
    assert (ran.status, ran.out) == (2, "")
    assert "its task t/1 is another one now; name the file of that time with --data" in ran.err
    place.write_text(text)
    edit(run / COMPLETIONS, lambda record: record.update(completion=record["completion"] + "#"))
    ran = proctor("verify", run, "--share", "1")
    assert (ran.status, ran.out) == (2, "")
    assert "is not what was judged; the file was changed since" in ran.err
    (run / COMPLETIONS).unlink()
    assert (
        "the completions of 3 receipts are not in it" in proctor("verify", run, "--share", "1").err
    )


def test_a_checker_has_to_be_named(alone: Path, proctor: Proctor) -> None:
    Path("check.py").write_text("def check(case):\n    return True\n")
    Path("other.py").write_text("def check(case):\n    return False\n")
    task = {"task_id": "t", "tests": {"kind": "stdin", "inputs": ["1"], "outputs": ["2"]}}
    Path("tasks.jsonl").write_text(json.dumps(task))
    Path("samples.jsonl").write_text('{"task_id": "t", "solution": "print(3)"}')
    args = ("--completions", "samples.jsonl", "--out", "run", "--compare", "checker:check.py")
    assert proctor("score", "tasks.jsonl", *args).status == 0
    assert "name its file by --compare checker:FILE" in proctor("verify", "run", "--share", "1").err
    ran = proctor("verify", "run", "--share", "1", "--compare", "checker:other.py")
    assert "it is not the checker that the run was judged by" in ran.err
    assert proctor("verify", "run", "--share", "1", "--compare", "checker:check.py").status == 0
