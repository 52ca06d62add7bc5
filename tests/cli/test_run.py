"""`proctor run` with the models that are part of the product."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Proctor = Callable[..., Any]
Write = Callable[..., Path]
NO_PROVIDER = (
    "no such provider; known are reference, wrong, recorded:FILE, openai:NAME, anthropic:NAME, "
    "llama:NAME, transformers:NAME, command:NAME"
)


def task(number: int, solution: str | None = "def f(x): return {0}") -> dict[str, Any]:
    made: dict[str, Any] = {
        "task_id": f"t/{number}",
        "entry_point": "f",
        "tests": {"kind": "assertions", "targets": [f"f(1) == {number}"]},
    }
    return made if solution is None else {**made, "canonical_solution": solution.format(number)}


@pytest.fixture
def tasks(alone: Path, jsonl: Write) -> Path:
    return jsonl("tasks.jsonl", [task(n) for n in range(6)])


def test_the_reference_is_right(proctor: Proctor, tasks: Path) -> None:
    ran = proctor("run", tasks, "--model", "reference", "--json")
    found = json.loads(ran.out)
    assert (ran.status, len(ran.out.splitlines())) == (0, 1)
    assert (found["model"], found["tasks"], found["passed"]) == ("reference", 6, 6)
    assert set(found) >= {"samples", "unscored", "outcomes", "seconds", "run_dir", "degraded"}
    assert found["pass_at_k"]["1"] == {
        **found["pass_at_k"]["1"],
        "value": 1.0,
        "high": 1.0,
        "method": "exact binomial: all tasks agree",
    }
    assert Path(found["run_dir"]).parent == Path("runs/tasks/reference")


def test_a_wrong_reference_is_not(proctor: Proctor, alone: Path, jsonl: Write) -> None:
    jsonl("tasks.jsonl", [task(1), task(2, "def f(x): return 1")])
    ran = proctor("run", "tasks.jsonl", "--model", "reference", "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["passed"], found["unscored"], found["degraded"]) == (1, 1, 1, True)
    assert list(found["unfit"]) == ["t/2"]
    assert ran.complaint.startswith(
        "tasks.jsonl, line 2: canonical_solution fails the task's own tests (wrong_answer: "
    )
    assert ran.complaint.endswith("); its samples are unscored")


def test_the_suite_that_comes_along(proctor: Proctor) -> None:
    found = json.loads(proctor("run", "basics", "--model", "reference", "--json").out)
    assert (found["tasks"], found["passed"], found["degraded"]) == (54, 54, False)
    assert found["judged"] == {"apart": 49, "together": 5}


def test_wrong_solutions_are_all_rejected(proctor: Proctor) -> None:
    """A near miss and a lazy one of each of the first tasks."""
    args = ("run", "basics", "--model", "wrong", "--samples", "6", "--out", "run", "--json")
    found = json.loads(proctor(*args).out)
    assert (found["samples"], found["passed"], found["unscored"]) == (12, 0, 0)
    assert found["pass_at_k"]["1"]["value"] == 0.0
    rows = [json.loads(line) for line in Path("run/completions.jsonl").read_text().splitlines()]
    assert [row["more"]["wrong_solution"] for row in rows] == ["near miss", "lazy"] * 6
    said = proctor("run", "humaneval", "--model", "wrong").complaint
    assert said.endswith(
        "no wrong_solutions in 164 of 164 tasks, the first of which is HumanEval/0"
    )


def test_the_first_tasks_several_times(proctor: Proctor, tasks: Path) -> None:
    args = ("run", tasks, "--model", "reference", "--samples", "2", "--n-samples", "3")
    found = json.loads(proctor(*args, "--k", "3", "--out", "run", "--json").out)
    assert (found["tasks"], found["samples"]) == (2, 6)
    assert list(found["pass_at_k"]) == ["3"]
    receipts = [json.loads(line) for line in Path("run/receipts.jsonl").read_text().splitlines()]
    assert sum(one["reused_from"] is None for one in receipts) == 2
    ids = [
        json.loads(line)["id"] for line in Path("run/completions.jsonl").read_text().splitlines()
    ]
    assert ids == ["0_s0", "0_s1", "0_s2", "1_s0", "1_s1", "1_s2"]


def test_recorded_answers_to_the_first_tasks(proctor: Proctor, tasks: Path, jsonl: Write) -> None:
    """Rows of tasks that were not asked for are passed over; of unknown ones they are not."""
    rows = [{"task_id": f"t/{n}", "completion": f"def f(x): return {n}"} for n in range(6)]
    samples = jsonl("s.jsonl", rows)
    args = ("run", tasks, "--model", f"recorded:{samples}", "--samples", "2", "--json")
    found = json.loads(proctor(*args).out)
    assert (found["tasks"], found["passed"]) == (2, 2)
    jsonl("s.jsonl", [*rows, {"task_id": "t/9", "completion": ""}])
    assert proctor(*args).complaint == f"{samples}, line 7: task_id 't/9' is not a task of tasks"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--model", "gpt"], f"--model gpt: {NO_PROVIDER}"),
        (["--model", "recorded:none.jsonl"], "cannot read none.jsonl: No such file or directory"),
        (["--model", "reference", "--k", "2"], "--k 2: no task has more than 1 samples"),
        (["--model", "reference", "--k", "x"], "--k x: must be whole numbers above 0, as in 1,10,100"),
        (["--model", "reference", "--timeout", "999"], "--timeout 999: must be above 0 and up to 300"),
    ],
)  # fmt: skip
def test_bad_input(proctor: Proctor, tasks: Path, args: list[str], said: str) -> None:
    ran = proctor("run", tasks, *args)
    assert (ran.status, ran.out, ran.complaint) == (2, "", said)
    assert not Path("runs").exists()


def test_no_reference(proctor: Proctor, alone: Path, jsonl: Write) -> None:
    jsonl("tasks.jsonl", [task(1), task(2, None)])
    assert proctor("run", "tasks.jsonl", "--model", "reference").complaint == (
        "tasks.jsonl: no canonical_solution in 1 of 2 tasks, the first of which is t/2"
    )


def test_some_of_a_published_benchmark(proctor: Proctor, data: Path) -> None:
    for name in ("humaneval", "mbpp", "mbpp-sanitized"):
        args = ("run", name, "--data", data, "--model", "reference", "--samples", "8", "--json")
        ran = proctor(*args)
        found = json.loads(ran.out)
        assert (found["benchmark"], found["passed"], found["judged"]) == (name, 8, {"apart": 8})
        assert "not the file" not in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("humaneval", 164), ("mbpp", 974), ("mbpp-sanitized", 427)]
)
def test_all_of_a_published_benchmark(proctor: Proctor, data: Path, name: str, count: int) -> None:
    ran = proctor("run", name, "--data", data, "--model", "reference", "--json")
    found = json.loads(ran.out)
    assert (found["passed"], found["samples"], found["judged"]) == (count, count, {"apart": count})


def test_empty_answers_are_worth_nothing(proctor: Proctor, data: Path, jsonl: Write) -> None:
    rows = [{"task_id": f"HumanEval/{n}", "completion": ""} for n in range(10)]
    args = ("run", "humaneval", "--data", data, "--model", f"recorded:{jsonl('s.jsonl', rows)}")
    found = json.loads(proctor(*args, "--samples", "10", "--json").out)
    assert (found["samples"], found["passed"], found["unscored"]) == (10, 0, 0)


@pytest.fixture
def two(alone: Path, jsonl: Write) -> str:
    """Write two tasks files; the second has a task whose own reference fails."""
    jsonl("one.jsonl", [task(n) for n in range(5)])
    jsonl("two.jsonl", [task(0), task(1, "def f(x): return 0")])
    return "one.jsonl,two.jsonl"


def test_several_benchmarks_have_one_summary(proctor: Proctor, two: str) -> None:
    ran = proctor("run", two, "--model", "reference", "--n-samples", "2", "--json")
    found = json.loads(ran.out)
    assert (ran.status, len(ran.out.splitlines())) == (1, 1)
    assert (found["suite"], found["model"]) == (two, "reference")
    assert (found["tasks"], found["samples"], found["passed"], found["unscored"]) == (7, 14, 12, 2)
    assert found["outcomes"]["pass"] == 12
    assert (found["complete"], found["degraded"]) == (True, True)
    one = found["pass_at_k"]["1"]
    assert (one["value"], one["tasks"], one["left_out"]) == (1.0, 6, 1)
    assert "two.jsonl, line 2" in ran.complaint
    folder = Path(found["run_dir"])
    assert folder.parent == Path("runs/one.jsonl_two.jsonl/reference")
    assert list(found["benchmarks"]) == ["one", "two"]
    for name, part in found["benchmarks"].items():
        assert part["run_dir"] == str(folder / name)
        alone = json.loads(proctor("report", folder / name, "--json").out)
        del alone["details"]
        assert {**part, "seconds": None} == {**alone, "seconds": None}


def test_several_benchmarks_as_text(proctor: Proctor, two: str) -> None:
    ran = proctor("run", two, "--model", "reference", "--out", "both")
    assert ran.status == 1
    agree = "(exact binomial: all tasks agree)"
    assert ran.out.splitlines()[:8] == [
        "one.jsonl,two.jsonl · reference",
        "",
        f"  pass@1    one          100.0 %  [47.8, 100.0]  {agree}",
        "            two          100.0 %  (no interval: 1 tasks, fewer than 5), 1 tasks left out",
        f"            all 7 tasks  100.0 %  [54.1, 100.0]  {agree}, 1 tasks left out",
        "",
        "  6 of 7 samples passed, 7 tasks",
        "  DEGRADED: two: 1 samples are unscored, not wrong",
    ]
    assert ran.out.endswith("  both\n")


def test_several_benchmarks_go_on_where_they_stopped(proctor: Proctor, two: str) -> None:
    args = ("run", two, "--model", "reference", "--out", "both", "--json")
    first = json.loads(proctor(*args).out)
    receipts = Path("both/two/receipts.jsonl")
    kept = receipts.read_text().splitlines(keepends=True)
    receipts.write_text(kept[0])
    again = json.loads(proctor(*args).out)
    assert receipts.read_text().splitlines()[0] + "\n" == kept[0]
    assert again["pass_at_k"] == first["pass_at_k"]


@pytest.mark.parametrize(
    ("name", "flags", "said"),
    [
        ("one.jsonl,none", (), "none: no such benchmark or tasks file; known are "),
        ("one.jsonl,sub/one.jsonl", (), "one.jsonl,sub/one.jsonl: two of them are called one"),
        (
            "humaneval,mbpp",
            ("--data", "one.jsonl"),
            "--data one.jsonl: must be a folder, since several benchmarks are asked for",
        ),
        ("one.jsonl,two.jsonl", ("--k", "3"), "--k 3: no task has more than 1 samples"),
    ],
)
def test_what_is_wrong_with_several(
    proctor: Proctor, two: str, name: str, flags: tuple[str, ...], said: str
) -> None:
    Path("sub").mkdir()
    Path("sub/one.jsonl").write_text(Path("one.jsonl").read_text())
    ran = proctor("run", name, "--model", "reference", *flags)
    assert ran.status == 2
    assert ran.complaint.startswith(said)
