"""`proctor evalplus` takes, prints and writes what `evalplus.evaluate` does."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Proctor = Callable[..., Any]
Write = Callable[..., Path]
PROBLEMS = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": f'def {name}(x):\n    """Answer."""\n',
        "entry_point": name,
        "canonical_solution": solution,
        "test": f"def check(candidate):\n    assert candidate({base!r}) == {right!r}\n",
        "contract": "",
        "atol": 0,
        "base_input": [[base]],
        "plus_input": [[one] for one in plus],
    }
    for n, (name, solution, base, right, plus) in enumerate(
        [
            ("f", "    return 2 * x\n", 1, 2, [2, 3]),
            ("g", "    return sum(x)\n", [1, 2], 3, [[], [5]]),
            ("h", "    return x\n", "a", "a", [[1.5], "b"]),
        ]
    )
]
SAMPLES = [
    (0, "    return 2 * x\n"),
    (0, "    return 2\n"),  # right for the base input only
    (1, "    return sum(x)\n"),
    (1, "    return -1\n"),
    (2, "    return x\n"),
    (2, "    raise ValueError\n"),
]
PLACES = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
EVALPLUS = shutil.which("evalplus.evaluate", path=PLACES)


@pytest.fixture(autouse=True)
def data(alone: Path, jsonl: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Say where the data are in EvalPlus's own way."""
    path = jsonl("HumanEvalPlus.jsonl", PROBLEMS)
    monkeypatch.setenv("HUMANEVAL_OVERRIDE_PATH", str(path))
    return path


@pytest.fixture
def samples(jsonl: Write) -> Path:
    rows = [{"task_id": f"HumanEval/{n}", "completion": text} for n, text in SAMPLES]
    return jsonl("s.jsonl", rows)


ASKED = ("evalplus", "--dataset", "humaneval", "--samples")


def statuses(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())["eval"]
    return {
        task_id: [(one["base_status"], one["plus_status"], one["solution"]) for one in rows]
        for task_id, rows in found.items()
    }


def test_figures_and_results(proctor: Proctor, samples: Path) -> None:
    ran = proctor(*ASKED, samples)
    assert ran.status == 0, ran.err
    assert ran.out == (
        "humaneval (base tests)\npass@1:\t0.667\nhumaneval+ (base + extra tests)\npass@1:\t0.500\n"
    )
    found = json.loads(Path("s_eval_results.json").read_text())["eval"]
    assert found["HumanEval/0"][1]["plus_fail_tests"] == [[2]]
    assert found["HumanEval/0"][1]["base_fail_tests"] == []


@pytest.mark.slow
@pytest.mark.requires("evalplus")
def test_it_is_what_evalplus_says(proctor: Proctor, samples: Path) -> None:
    for flags in ([], ["--base_only"]):
        shutil.copy(samples, "theirs.jsonl")
        done = subprocess.run(
            [str(EVALPLUS), *ASKED[1:], "theirs.jsonl", *flags],
            env={**os.environ, "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        ran = proctor(*ASKED, samples, *flags, "--i_just_wanna_run")
        assert ran.status == 0, ran.err
        told = ran.out.splitlines()
        assert [line for line in done.stdout.splitlines() if line in told] == [
            line for line in told if not line.startswith("Backup")
        ]
        theirs = Path("theirs_eval_results.json")
        assert statuses(theirs) == statuses(Path("s_eval_results.json"))
        theirs.unlink()


def test_results_that_are_there_are_believed(proctor: Proctor, samples: Path) -> None:
    one = {"base_status": "pass", "plus_status": "pass"}
    results = Path("s_eval_results.json")
    results.write_text(json.dumps({"eval": {"HumanEval/0": [one]}}))
    ran = proctor(*ASKED, samples)
    assert (
        ran.out.splitlines()[0]
        == f"Load from previous results from {samples.with_name(results.name)}"
    )
    assert ran.out.splitlines()[-1] == "pass@1:\t1.000"
    ran = proctor(*ASKED, samples, "--i-just-wanna-run")
    assert ran.out.splitlines()[0].startswith("Backup ")
    assert Path("s_eval_results.json.bak").is_file()
    assert ran.out.splitlines()[-1] == "pass@1:\t0.500"
    results.write_text('{"eval": 3}')
    ran = proctor(*ASKED, samples)
    assert ran.status == 2
    assert "field eval must be an object" in ran.complaint


def test_a_folder_and_every_failure(proctor: Proctor) -> None:
    for n, text in SAMPLES:
        folder = Path("theirs") / f"HumanEval_{n}"
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.iterdir()))
        (folder / f"{number}.py").write_text(str(PROBLEMS[n]["prompt"]) + text)
    ran = proctor(*ASKED, "theirs", "--test-details", "--parallel", 2, "--min-time-limit", 1)
    assert ran.status == 0, ran.err
    found = json.loads(Path("theirs/eval_results.json").read_text())["eval"]
    assert found["HumanEval/0"][1]["plus_fail_tests"] == [[2], [3]]
    assert found["HumanEval/2"][1]["base_fail_tests"] == [["a"]]


def test_what_cannot_be_done(proctor: Proctor, samples: Path, monkeypatch: Any) -> None:
    def refused(*args: object) -> str:
        ran = proctor("evalplus", *args)
        assert ran.status == 2, ran.err
        return str(ran.complaint)

    assert refused("--dataset", "apps", "--samples", samples) == (
        "--dataset apps: must be one of humaneval, mbpp"
    )
    assert refused(*ASKED[1:], "s.txt") == (
        "--samples s.txt: must be a folder or a file called *.jsonl"
    )
    monkeypatch.delenv("HUMANEVAL_OVERRIDE_PATH")
    assert refused(*ASKED[1:], samples, "--mini") == (
        "--mini: is a file of its own; name the file by --data or HUMANEVAL_OVERRIDE_PATH"
    )
    assert refused(*ASKED[1:], samples, "--version", "v9").startswith(
        "--version v9: known is v0.1.10; "
    )
