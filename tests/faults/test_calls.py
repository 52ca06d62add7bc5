"""System calls that fail, do half of it, or take their time, at each place where a run makes them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "fault.c"
ENOUGH = 100


@pytest.fixture(scope="session")
def library(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what is put between a process and the system."""
    path = tmp_path_factory.mktemp("fault") / "fault.so"
    ran = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(path), str(SOURCE), "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        pytest.fail(f"cannot build the library of faults: {ran.stderr[:200]}")
    return str(path)


def faulty(work, library: str, fault: str):
    return work.run(env={"LD_PRELOAD": library, "FAULT": fault})


def fails(work, library: str, call: str, number: int) -> bool:
    """Have calls fail from one on; say whether the run failed by that."""
    ended = faulty(work, library, f"{call} {number}")
    if ended.status == 0:
        work.all_right()
        return False
    assert (ended.status, ended.out) == (3, ""), ended.err
    assert ended.sentence.startswith("cannot "), ended.sentence
    why = "No space left on device" if call == "write" else "Input/output error"
    assert why in ended.sentence
    work.goes_on()
    return True


@pytest.mark.parametrize(
    ("call", "number"), [("fsync", 1), ("fsync", 6), ("rename", 2), ("close", 2), ("write", 9)]
)
def test_calls_that_fail(work, library: str, call: str, number: int) -> None:
    work.write(4, 2)
    assert fails(work, library, call, number)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["fsync", "rename", "close", "write"])
def test_calls_that_fail_at_every_place(work, library: str, call: str) -> None:
    work.write(4, 2)
    number = 1
    while fails(work, library, call, number):
        number += 1
        shutil.rmtree("run")
        assert number < ENOUGH
    assert number > 2


@pytest.mark.parametrize("fault", ["short 1", pytest.param("slow 1", marks=pytest.mark.slow)])
def test_calls_that_do_half_of_it_or_take_their_time(work, library: str, fault: str) -> None:
    ended = faulty(work, library, fault)
    assert (ended.status, ended.err) == (0, "")
    work.all_right()


def test_a_clock_that_jumps(work, library: str) -> None:
    """The time of day decides nothing: neither what is a timeout, nor what something took."""
    programs = [
        ("import time\ntime.sleep(0.2)", "pass"),
        ("import time\ntime.sleep(60)", "timeout"),
        ("while True: pass", "timeout"),
    ]
    tests = {"kind": "stdin", "inputs": [""], "outputs": [""]}
    Path("tasks.jsonl").write_text(json.dumps({"task_id": "t", "tests": tests}) + "\n")
    rows = [{"task_id": "t", "solution": code} for code, _ in programs]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = work.end(work.start("--timeout", "1", env={"LD_PRELOAD": library, "FAULT": "clock 1"}))
    assert (ended.status, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert 1 < found["seconds"] < 200
    receipts = {one["sample"]: one for one in work.receipts()}
    for sample, (_, outcome) in enumerate(programs):
        assert receipts[sample]["outcome"] == outcome
        assert 0 < receipts[sample]["usage"]["wall_seconds"] < 60
    assert Path("run/report.json").exists()
