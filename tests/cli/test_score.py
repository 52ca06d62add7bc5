"""`proctor score`: what it prints, what it leaves, and everything it refuses."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import TABLE

Proctor = Callable[..., Any]
Write = Callable[..., Path]
CONTRACT = {
    "tasks", "samples", "passed", "unscored", "outcomes", "pass_at_k", "seconds", "run_dir",
    "degraded",
}  # fmt: skip


def task(number: int, **changes: Any) -> dict[str, Any]:
    made = {
        "task_id": f"t/{number}",
        "entry_point": "f",
        "tests": {"kind": "assertions", "targets": [f"f(1) == {number}", "f(2) == 0"]},
    }
    return {**made, **changes}


def sample(number: int, code: str = "def f(x): return {0} if x == 1 else 0") -> dict[str, Any]:
    return {"task_id": f"t/{number}", "solution": code.format(number)}


@pytest.fixture
def files(alone: Path, jsonl: Write) -> Path:
    """Make a tasks file with six tasks and a samples file with three right answers."""
    jsonl("tasks.jsonl", [task(n) for n in range(6)])
    wrong = "def f(x): return {0}"
    samples = [
        sample(0),
        sample(1),
        sample(2),
        sample(3, wrong),
        sample(4, "def f("),
        sample(5, wrong),
    ]
    return jsonl("s.jsonl", samples)


ARGS = ("score", "tasks.jsonl", "--completions", "s.jsonl", "--out", "run")


def test_json_is_one_object_with_the_fields_of_the_contract(proctor: Proctor, files: Path) -> None:
    ran = proctor(*ARGS, "--json")
    assert ran.status == 0
    assert len(ran.out.splitlines()) == 1
    found = json.loads(ran.out)
    assert set(found) >= CONTRACT
    assert (found["tasks"], found["samples"], found["passed"], found["unscored"]) == (6, 6, 3, 0)
    assert found["outcomes"] == {
        "pass": 3,
        "assertion_fail": 2,
        "syntax_error": 1,
        "timeout": 0,
        "error": 0,
    }
    assert found["pass_at_k"]["1"]["value"] == 0.5
    assert 0 < found["pass_at_k"]["1"]["low"] < 0.5 < found["pass_at_k"]["1"]["high"] < 1
    assert (found["run_dir"], found["degraded"]) == ("run", False)
    assert found["seconds"] > 0
    report = json.loads(Path("run/report.json").read_text())
    assert report == found


def test_text(proctor: Proctor, files: Path) -> None:
    ran = proctor(*ARGS)
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0] == "tasks · recorded:s.jsonl"
    assert lines[2].startswith("  pass@1    50.0 %  [")
    assert "  3 of 6 samples passed, 6 tasks" in lines
    assert "    syntax_error    syntax                  1   16.7 %" in lines
    assert lines[-1] == "  run"
    assert "NOT ISOLATED" in ran.out or ran.err == ""


def test_stdout_has_nothing_else(files: Path) -> None:
    """As a pipe sees it, from a process of its own, warnings and all."""
    ran = subprocess.run(
        [sys.executable, "-m", "proctor", *ARGS, "--json", "--sandbox", "portable"],
        capture_output=True,
        text=True,
        check=True,
    )
    json.loads(ran.stdout)
    assert ran.stderr == "proctor: candidates run in the portable tier, NOT ISOLATED\n"


def test_the_same_command_again_runs_nothing(proctor: Proctor, files: Path) -> None:
    proctor(*ARGS)
    before = Path("run/receipts.jsonl").read_bytes()
    again = proctor(*ARGS, "--json")
    assert (again.status, json.loads(again.out)["passed"]) == (0, 3)
    assert Path("run/receipts.jsonl").read_bytes() == before


def test_without_a_name_every_run_has_a_folder_of_its_own(proctor: Proctor, files: Path) -> None:
    folders = {json.loads(proctor(*ARGS[:-2], "--json").out)["run_dir"] for _ in range(2)}
    assert len(folders) == 2
    assert all(Path(folder).parent == Path("runs/tasks/recorded_s.jsonl") for folder in folders)


def test_samples_of_every_kind_of_file(proctor: Proctor, files: Path) -> None:
    Path("s.jsonl.gz").write_bytes(gzip.compress(files.read_bytes()))
    rows = [json.loads(line) for line in files.read_text().splitlines()]
    Path("s.json").write_text(json.dumps(rows, indent=2))
    for name in ("s.jsonl.gz", "s.json"):
        ran = proctor(*ARGS[:3], name, "--json", "--workers", "1")
        assert json.loads(ran.out)["passed"] == 3


def test_several_samples_and_k(proctor: Proctor, alone: Path, jsonl: Write) -> None:
    jsonl("tasks.jsonl", [task(1)])
    jsonl("s.jsonl", [sample(1), sample(1, "def f(x): return 9"), sample(1)])
    found = json.loads(proctor(*ARGS, "--k", "1,2", "--json").out)
    assert (found["tasks"], found["samples"]) == (1, 3)
    assert {k: v["value"] for k, v in found["pass_at_k"].items()} == {
        "1": pytest.approx(2 / 3),
        "2": 1.0,
    }
    receipts = [json.loads(line) for line in Path("run/receipts.jsonl").read_text().splitlines()]
    assert {one["sample"]: one["reused_from"] for one in receipts} == {0: None, 1: None, 2: 0}


def test_no_reuse(proctor: Proctor, alone: Path, jsonl: Write) -> None:
    jsonl("tasks.jsonl", [task(1)])
    jsonl("s.jsonl", [sample(1)] * 3)
    proctor(*ARGS, "--no-reuse")
    receipts = [json.loads(line) for line in Path("run/receipts.jsonl").read_text().splitlines()]
    assert [one["reused_from"] for one in receipts] == [None] * 3


def test_flags_reach_the_run(proctor: Proctor, files: Path) -> None:
    flags = ("--timeout", "2", "--memory", "512M", "--early-stop", "--max-tests", "7")
    more = ("--extract", "never", "--preamble", "base", "--compare", "exact", "--seed", "9")
    assert proctor(*ARGS, *flags, *more).status == 0
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["limits"]["wall_seconds"] == 2.0
    assert manifest["limits"]["memory_bytes"] == 512 << 20
    assert (manifest["early_stop"], manifest["max_tests"]) == (True, 7)
    assert (manifest["extract"], manifest["preamble"]) == ("never", "base")
    assert (manifest["compare"], manifest["sampling"]["seed"]) == ("exact", 9)
    receipt = json.loads(Path("run/receipts.jsonl").read_text().splitlines()[0])
    assert receipt["limits"]["memory_bytes"] == 512 << 20


def test_a_degraded_run_is_status_1(proctor: Proctor, files: Path, jsonl: Write) -> None:
    """A task whose own prompt fails cannot be judged; that is nobody's wrong answer."""
    broken = task(0, prompt="1 / 0\n", tests={"kind": "assertions", "targets": ["abs(f(1)) == 0"]})
    jsonl("tasks.jsonl", [broken, *(task(n) for n in range(1, 6))])
    ran = proctor(*ARGS, "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["degraded"], found["unscored"]) == (1, True, 1)
    assert sum(found["outcomes"].values()) == 5
    assert found["pass_at_k"]["1"]["left_out"] == 1
    assert "DEGRADED: 1 samples are unscored, not wrong" in proctor("report", "run").out


# Agreement


def test_against_a_field(proctor: Proctor, files: Path, jsonl: Write) -> None:
    rows = [json.loads(line) for line in files.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["ok"] = number < 4
    jsonl("s.jsonl", rows)
    ran = proctor(*ARGS, "--against", "ok", "--json")
    found = json.loads(ran.out)["agreement"]
    assert ran.status == 0
    assert (found["both_pass"], found["both_fail"]) == (3, 2)
    assert (found["only_theirs"], found["only_ours"]) == (1, 0)
    assert found["rate"] == pytest.approx(5 / 6)
    assert [one["task_id"] for one in found["differences"]] == ["t/3"]
    text = proctor(*ARGS, "--against", "ok").out
    assert "  agreement 83.33 % of 6 samples\n" in text
    assert "    t/3 sample 0\n" in text
    assert "t/3 sample" not in proctor(*ARGS, "--against", "ok", "--show", "0").out


def test_a_gate(proctor: Proctor, files: Path, jsonl: Write) -> None:
    verdicts = [{"task_id": f"t/{n}", "passed": n < 4} for n in range(6)]
    path = jsonl("verdicts.jsonl", verdicts)
    assert proctor(*ARGS, "--against", path, "--min-agreement", "0.8").status == 0
    assert proctor(*ARGS, "--against", path, "--min-agreement", "0.9").status == 1


def test_hostile_ids_details_and_reasons(proctor: Proctor, alone: Path, jsonl: Write) -> None:
    """Nothing but visible text reaches the terminal, as text or as JSON."""
    evil = "\x1b[31m\x9b2J\u202e\x07evil\r\n"
    jsonl("tasks.jsonl", [task(1, task_id=evil)])
    code = f"def f(x): raise ValueError({evil!r})"
    row = {"task_id": evil, "solution": code, "ok": True, "result": evil}
    samples = jsonl(f"{evil.strip()}.jsonl", [row])
    out = f"o{evil.strip()}"
    args = ("score", "tasks.jsonl", "--completions", samples, "--out", out, "--against", "ok")
    text = proctor(*args)
    assert text.status == 0, text.err
    assert text.out.replace("\n", "").isprintable()
    assert "\\x1b[31m\\x9b2J" in text.out
    machine = proctor(*args, "--json")
    assert machine.out.rstrip("\n").isprintable()
    found = json.loads(machine.out)
    assert found["agreement"]["differences"][0]["task_id"] == evil
    assert proctor("report", out).out.replace("\n", "").isprintable()
    assert proctor(*args, "--preamble", "base").complaint.startswith("o\\x1b[31m")


# Bad input: one sentence, status 2, nothing written


@pytest.fixture
def refused(proctor: Proctor, files: Path) -> Callable[..., str]:
    """Return a function that runs a command which must be refused, leaving no trace."""

    def run(*args: object) -> str:
        before = sorted(Path().rglob("*"))
        ran = proctor(*args)
        assert (ran.status, ran.out) == (2, "")
        assert sorted(Path().rglob("*")) == before, "nothing is written"
        return str(ran.complaint)

    return run


def test_missing_files_and_folders(refused: Callable[..., str], alone: Path) -> None:
    folder = alone / "folder"
    folder.mkdir()
    assert refused("score", "tasks.jsonl", "--completions", "no.jsonl") == (
        "cannot read no.jsonl: No such file or directory"
    )
    assert refused("score", "no.jsonl", "--completions", "s.jsonl") == (
        f"no.jsonl: no such benchmark or tasks file; known are {', '.join(TABLE)}"
    )
    assert refused("score", folder, "--completions", "s.jsonl").endswith(
        "no tasks.toml in it, nor in a folder below it"
    )
    assert refused("score", "tasks.jsonl", "--completions", folder) == (
        "recorded:folder: there are no completions in it"
    )
    assert refused("score", "mbpp", "--data", folder, "--completions", "s.jsonl") == (
        f"--data {folder}: there is no mbpp.jsonl in it"
    )


def test_line_17(refused: Callable[..., str], files: Path) -> None:
    good = json.dumps(sample(1))
    files.write_text(f"{good}\n" * 16 + f"{good[:-1]}\n" + f"{good}\n" * 3)
    assert refused(*ARGS) == "s.jsonl, line 17: not JSON: Input data was truncated"
    tasks = Path("tasks.jsonl")
    rows = [json.dumps(task(n)) for n in range(16)]
    tasks.write_text("\n".join([*rows, "not JSON"]))
    assert refused(*ARGS) == "tasks.jsonl, line 17: not JSON: invalid character (byte 4)"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"task_id": "t/9", "solution": ""}, "s.jsonl, line 2: task_id 't/9' is not a task of tasks"),
        ({"solution": ""}, "s.jsonl, line 2: field task_id is missing"),
        ({"task_id": "t/1"}, "s.jsonl, line 2: there is neither a field completion nor a field solution"),
        ({"task_id": "t/1", "solution": 7}, "s.jsonl, line 2: field solution must be a string, not a number"),
    ],
)  # fmt: skip
def test_a_wrong_row(
    refused: Callable[..., str], jsonl: Write, row: dict[str, Any], said: str
) -> None:
    jsonl("s.jsonl", [sample(1), row])
    assert refused(*ARGS) == said


def test_broken_bytes(refused: Callable[..., str], files: Path) -> None:
    content = files.read_bytes()
    files.write_bytes(b'{"task_id": "t/1", "solution": "\xff"}\n')
    assert refused(*ARGS) == "s.jsonl, line 1: not UTF-8: byte 0xff, invalid start byte"
    files.write_bytes(b'{"task_id": ' * 50_000)
    assert refused(*ARGS) == "s.jsonl, line 1: nested more than 100 deep"
    Path("s.jsonl.gz").write_bytes(gzip.compress(content)[:-12])
    said = refused(*ARGS[:3], "s.jsonl.gz")
    assert said == (
        "cannot read s.jsonl.gz: Compressed file ended before the end-of-stream marker was reached"
    )
    Path("s.zst").write_bytes(content)
    assert refused(*ARGS[:3], "s.zst").startswith("cannot read s.zst: ")


def test_empty_files(refused: Callable[..., str], files: Path) -> None:
    files.write_text("")
    assert refused(*ARGS) == "recorded:s.jsonl: there are no completions in it"
    assert refused(*ARGS, "--partial") == "recorded:s.jsonl: there are no completions in it"
    Path("tasks.jsonl").write_text("\n")
    assert refused(*ARGS) == "tasks.jsonl: there are no tasks in it"


def test_tasks_that_could_never_be_judged(refused: Callable[..., str], jsonl: Write) -> None:
    jsonl("tasks.jsonl", [task(1), task(1)])
    assert refused(*ARGS) == "tasks.jsonl, line 2: task_id 't/1' stands in line 1 already"
    jsonl("tasks.jsonl", [task(1), task(2, metadata={"timeout_s": 31})])
    assert refused(*ARGS) == (
        "tasks.jsonl, line 2: metadata.timeout_s is 31; it must be above 0 and at most 30"
    )
    jsonl(
        "tasks.jsonl",
        [task(1, tests={"kind": "check", "code": "def check(f): pass"}, entry_point=None)],
    )
    assert refused(*ARGS) == (
        "tasks.jsonl, line 1: entry_point is missing, and tests of kind check need it"
    )


def test_tasks_without_completions(
    refused: Callable[..., str], proctor: Proctor, jsonl: Write
) -> None:
    jsonl("s.jsonl", [sample(1), sample(3)])
    assert refused(*ARGS) == (
        "recorded:s.jsonl: no completion for 4 of 6 tasks (t/0, t/2, t/4, t/5); "
        "--partial scores the others"
    )
    found = json.loads(proctor(*ARGS, "--partial", "--json").out)
    assert (found["tasks"], found["passed"], found["degraded"]) == (2, 2, False)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--k", "2"], "--k 2: no task has more than 1 samples"),
        (["--k", "lots"], "--k lots: must be whole numbers above 0, as in 1,10,100"),
        (["--memory", "lots"], "--memory lots: write it as 512MiB or 2G"),
        (["--memory", "1k"], "--memory 1k: must be from 32 MiB to 1024 TiB"),
        (["--timeout", "0"], "--timeout 0: must be above 0 and up to 300"),
        (["--timeout", "301"], "--timeout 301: must be above 0 and up to 300"),
        (["--against", "is_solved"], "s.jsonl, line 1: field is_solved, which --against names, is missing, and it is no file"),
        (["--solution-field", "full_code"], "s.jsonl, line 1: field full_code, which --solution-field names, is missing"),
        (["--data", "."], "--data .: tasks.jsonl is a file itself and needs no other"),
    ],
)  # fmt: skip
def test_flags_that_make_no_sense(refused: Callable[..., str], flags: list[str], said: str) -> None:
    assert refused(*ARGS, *flags) == said


def test_names_nobody_knows(refused: Callable[..., str]) -> None:
    assert refused(*ARGS, "--sandbox", "bag").startswith("--sandbox bag: known are auto, kernel, ")
    assert refused(*ARGS, "--compare", "fuzzy").startswith(
        "--compare 'fuzzy': no such profile; known are exact, "
    )


def test_a_sandbox_that_is_not_here_is_our_failure(proctor: Proctor, files: Path) -> None:
    ran = proctor(*ARGS, "--sandbox", "portable", "--require", "kernel")
    assert (ran.status, ran.out) == (3, "")
    assert ran.complaint.startswith("--require kernel: ")
    assert not Path("run").exists()


def test_an_out_that_belongs_to_another_run(proctor: Proctor, files: Path) -> None:
    proctor(*ARGS)
    before = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    ran = proctor(*ARGS, "--preamble", "base")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint == (
        "run belongs to another run: its preamble is 'none', not 'base'; "
        "name another --out, or start over with --fresh"
    )
    assert {path.name: path.read_bytes() for path in Path("run").iterdir()} == before
    assert proctor(*ARGS, "--preamble", "base", "--fresh").status == 0


def test_an_out_of_the_same_name_with_other_samples(
    proctor: Proctor, files: Path, jsonl: Write
) -> None:
    """A checkpoint's samples.jsonl must not be reported with the figures of the last one's."""
    proctor(*ARGS)
    jsonl("s.jsonl", [sample(n) for n in range(6)])
    ran = proctor(*ARGS)
    assert (ran.status, ran.out) == (2, "")
    assert "its completions_sha256 is" in ran.complaint


def test_an_out_that_cannot_be_used(refused: Callable[..., str], alone: Path) -> None:
    assert refused(*ARGS[:-1], "s.jsonl") == ("cannot use s.jsonl as a run directory: File exists")
    assert refused(*ARGS[:-1], "s.jsonl/run") == (
        "cannot use s.jsonl/run as a run directory: Not a directory"
    )
    assert refused(*ARGS[:-1], "/proc/run").startswith("cannot use /proc/run as a run directory: ")


def test_an_out_full_of_other_files(refused: Callable[..., str], alone: Path) -> None:
    assert refused(*ARGS[:-1], ".") == ". holds files but no run; name another --out"
    assert refused(*ARGS[:-1], ".", "--fresh") == (
        "--fresh: . holds files but no run, so it is left alone"
    )


def test_a_full_disk(alone: Path, jsonl: Write) -> None:
    """What was graded before it was full is kept, and the same command goes on."""
    jsonl("tasks.jsonl", [task(1)])
    noisy = "print('y' * 8000)\n"  # makes receipts longer than completions
    codes = [f"{noisy}def f(x): return {n}  # {'x' * 250_000}" for n in range(6)]
    jsonl("s.jsonl", [sample(1, code) for code in codes])
    code = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_525_000, -1))\n"
        "from proctor.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, *ARGS, "--workers", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert re.fullmatch(
        r"proctor: cannot write run/receipts.jsonl: File too large; "
        r"what was graded is kept, and the same command without --fresh goes on from there",
        ran.stderr.splitlines()[-1],
    )
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert sorted(os.listdir("run")) == ["completions.jsonl", "manifest.json", "receipts.jsonl"]
    kept = Path("run/receipts.jsonl").read_bytes()
    assert 0 < kept.count(b"\n") < 6
    command = [sys.executable, "-m", "proctor", *ARGS, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["samples"] == 6
    assert Path("run/receipts.jsonl").read_bytes().startswith(kept[: kept.rindex(b"\n") + 1])


def test_paths_that_are_no_text(files: Path) -> None:
    """Linux lets a name be any bytes."""
    odd = os.fsencode(files.parent) + b"/s\xff.jsonl"
    files.rename(os.fsdecode(odd))
    args = [sys.executable, "-m", "proctor", "score", "tasks.jsonl", "--completions", odd]
    for _ in range(2):
        ran = subprocess.run([*args, "--out", b"r\xfe", "--json"], capture_output=True, check=True)
        assert json.loads(ran.stdout)["model"] == "recorded:s\\udcff.jsonl"
        assert json.loads(ran.stdout)["run_dir"] == "r\\udcfe"
    assert os.path.isdir(b"r\xfe")  # noqa: PTH112


# Comparing


@pytest.fixture
def pairs(alone: Path, jsonl: Write) -> Path:
    """Make a task that asks for any two numbers with a sum, and an answer that is not expected."""
    tests = {"kind": "stdin", "inputs": ["5", "9"], "outputs": ["2 3", "4 5"]}
    jsonl("pairs.jsonl", [{"task_id": "pair", "tests": tests}])
    return jsonl("s.jsonl", [{"task_id": "pair", "solution": "n = int(input())\nprint(1, n - 1)"}])


CHECKER = "def check(input, expected, got):\n    return sum(map(int, got.split())) == int(input)\n"
PAIRS = ("score", "pairs.jsonl", "--completions", "s.jsonl", "--json")


def test_a_checker_from_a_file(proctor: Proctor, pairs: Path, alone: Path) -> None:
    (alone / "checker.py").write_text(CHECKER)
    assert json.loads(proctor(*PAIRS, "--out", "a").out)["passed"] == 0
    ran = proctor(*PAIRS, "--compare", "checker:checker.py", "--out", "b")
    assert json.loads(ran.out)["passed"] == 1
    manifest = json.loads((alone / "b" / "manifest.json").read_text())
    assert re.fullmatch("checker [0-9a-f]{64}", manifest["compare"])
    (alone / "checker.py").write_text(CHECKER + "\n# other\n")
    again = proctor(*PAIRS, "--compare", "checker:checker.py", "--out", "b")
    assert (again.status, "compare" in again.complaint) == (2, True), "another checker, another run"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "--compare checker:c.py: No such file or directory"),
        (b"def chek(): pass", "--compare checker:c.py: is not Python that defines check(input, expected, got)"),
        (b"\xff", "--compare checker:c.py: not UTF-8"),
    ],
)  # fmt: skip
def test_bad_checkers(
    proctor: Proctor, pairs: Path, alone: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (alone / "c.py").write_bytes(content)
    ran = proctor(*PAIRS, "--compare", "checker:c.py")
    assert ran.status == 2
    assert ran.complaint.startswith(said)


def test_at_most_so_many_cases_and_no_further_than_the_first_failure(
    proctor: Proctor, pairs: Path, alone: Path
) -> None:
    def tests(out: str, *args: object) -> list[int]:
        proctor(*PAIRS, "--out", out, *args)
        (line,) = (alone / out / "receipts.jsonl").read_text().splitlines()
        return [test["index"] for test in json.loads(line)["tests"]]

    assert tests("all") == [0, 1]
    assert tests("one", "--max-tests", 1) == [0]
    assert tests("early", "--early-stop") == [0]
