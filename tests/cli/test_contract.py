"""`proctor contract`: exit status, the file that says when and where, and what others see of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.checks.contract import LINES
from proctor.checks.contract.result import PARTIAL, Result
from proctor.sandbox.tiers.select import open_sandbox

Proctor = Callable[..., Any]
Write = Callable[..., Path]
GOOD = {
    "task_id": "demo/add",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "add(-4, 4) == 0"]},
    "canonical_solution": "    return a + b\n",
}
OTHER = {**GOOD, "task_id": "demo/again"}
WRONG = {**GOOD, "canonical_solution": "    return a - b\n"}


@pytest.fixture
def isolated() -> None:
    import sys

    sandbox = open_sandbox("auto", sys.executable)
    found = sandbox.enforcement().isolated
    sandbox.close()
    if not found:
        pytest.skip("no tier of this machine hides anything")


@pytest.mark.usefixtures("isolated")
def test_a_contract_that_is_kept(proctor: Proctor, jsonl: Write, alone: Path) -> None:
    tasks = jsonl("demo.jsonl", [GOOD, OTHER])
    ran = proctor("contract", tasks, "--json", "--out", "result.json")
    assert ran.status == 0
    result = msgspec.json.decode(ran.out, type=Result)
    assert json.loads(ran.out) == json.loads(Path("result.json").read_text())
    assert [one.line for one in result.findings] == list(LINES)
    assert (result.in_rotation, result.reason, result.tasks) == (True, "", 2)
    assert result.files == {str(tasks): result.files[str(tasks)]}
    assert result.versions["proctor"]
    assert "python" in result.enforcement.toolchains
    kept = list((alone / "home/.local/state/proctor/contracts/demo").iterdir())
    assert [json.loads(path.read_text()) for path in kept] == [json.loads(ran.out)]


def test_a_contract_that_is_broken(proctor: Proctor, jsonl: Write) -> None:
    ran = proctor("contract", jsonl("demo.jsonl", [GOOD, {**WRONG, "task_id": "demo/wrong"}]))
    assert ran.status == 1
    assert "  ok   ids         2 tasks have as many ids\n" in ran.out
    assert (
        "  FAIL references  1 of 2 tasks: demo/wrong: its reference fails: wrong_answer" in ran.out
    )
    assert "  not in rotation: references: 1 of 2 tasks" in ran.out


@pytest.mark.slow
def test_a_part_says_that_it_is_one(proctor: Proctor, jsonl: Write, alone: Path) -> None:
    ran = proctor("contract", jsonl("demo.jsonl", [GOOD, WRONG | {"task_id": "x"}]), "--samples", 1)
    assert f"not in rotation: {PARTIAL}" in ran.out or "hides nothing" in ran.out
    assert "demo · 1 of 2 tasks" in ran.out
    assert not (alone / "home/.local").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: no such benchmark or tasks file; known are basics, "),
        (["demo.jsonl", "--data", "x"], "--data x: demo.jsonl is a file itself and needs no other"),
        (["humaneval", "--data", "."], "--data .: there is no HumanEval.jsonl in it"),
        (["demo.jsonl", "--samples", "-1"], "Invalid value for '--samples'"),
    ],
)
def test_bad_input(proctor: Proctor, jsonl: Write, args: list[str], says: str) -> None:
    jsonl("demo.jsonl", [GOOD])
    ran = proctor("contract", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(says)


def test_a_file_that_is_no_tasks_file_breaks_its_first_line(proctor: Proctor, alone: Path) -> None:
    Path("demo.jsonl").write_text('{"task_id": 7}\n')
    ran = proctor("contract", "demo.jsonl")
    assert ran.status == 1
    assert (
        "FAIL schema      1 of 1 rows cannot be used: demo.jsonl, line 1: field task_id" in ran.out
    )
    assert "?    order       its tasks cannot be read" in ran.out


def test_the_list_says_what_is_not_in_rotation(
    proctor: Proctor, jsonl: Write, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (alone / "demo_package.py").write_text(
        "from proctor.benchmarks import Source\nfrom proctor.benchmarks.tasks_file import read\n"
        f"SOURCE = Source(name='theirs', summary='', file={str(jsonl('x.jsonl', [WRONG]))!r}, "
        "licence='MIT', read=read)\n"
    )
    about = alone / "demo_package-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: demo-package\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[proctor.benchmarks]\ntheirs = demo_package:SOURCE\n")
    monkeypatch.syspath_prepend(str(alone))
    monkeypatch.setenv("PYTHONPATH", str(alone))
    assert "rotation" not in proctor("benchmarks", "theirs").out
    assert proctor("contract", "theirs").status == 1
    ran = proctor("benchmarks", "theirs")
    assert "  not in rotation: references: 1 of 1 tasks: demo/add: its reference fails" in ran.out
    (row,) = json.loads(proctor("benchmarks", "theirs", "--json").out)["benchmarks"]
    assert (row["in_rotation"], row["not_in_rotation"][:11]) == (False, "references:")
    jsonl("x.jsonl", [GOOD])  # of other tasks the result says nothing
    assert "rotation" not in proctor("benchmarks", "theirs").out
