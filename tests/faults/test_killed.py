"""A run that is killed at any moment can be gone on with: nothing lost, nothing twice, nobody left.

The whole process group is killed with -9, as a scheduler or the kernel does it. This process takes
in orphans meanwhile, so whoever outlives the run is seen here.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proctor.measure.sandbox_speed import working_tiers

ARGS = ("score", "tasks.jsonl", "--completions", "s.jsonl", "--out", "run", "--workers", "2")
TASKS, EACH = 50, 10
ALL = TASKS * EACH
RECEIPTS, COMPLETIONS, REPORT = (
    Path("run", name) for name in ("receipts.jsonl", "completions.jsonl", "report.json")
)


@pytest.fixture(autouse=True)
def files(scratch: Path) -> None:
    write_files()


def write_files(tasks: int = TASKS) -> None:
    """Write many tiny samples, most with a program of their own, some right and some wrong."""
    rows = []
    with Path("tasks.jsonl").open("w") as file:
        for n in range(tasks):
            tests = {"kind": "assertions", "targets": [f"f({n}) == {n}", f"abs(f(-{n})) == {n}"]}
            file.write(json.dumps({"task_id": f"t{n}", "tests": tests}) + "\n")
            code = "def f(x):\n    return x if {} % 3 else {}"
            rows += [{"task_id": f"t{n}", "solution": code.format(n, s % 8)} for s in range(EACH)]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a journal."""
    if not path.exists():
        return []
    texts = path.read_bytes().splitlines(keepends=True)
    return [json.loads(text) for text in texts if text.endswith(b"\n")]


def count() -> int:
    return RECEIPTS.read_bytes().count(b"\n") if RECEIPTS.exists() else 0


def nothing_twice() -> None:
    for path in (RECEIPTS, COMPLETIONS):
        seen = Counter((one["task_id"], one["sample"]) for one in lines(path))
        assert set(seen.values()) <= {1}, path


def all_there(expected: int = ALL) -> None:
    """Check a finished run against the file it was made from."""
    nothing_twice()
    texts = [json.loads(text)["solution"] for text in Path("s.jsonl").read_text().splitlines()]
    completions = {(one["task_id"], one["sample"]): one["completion"] for one in lines(COMPLETIONS)}
    keys = [(f"t{n // EACH}", n % EACH) for n in range(expected)]
    assert completions == dict(zip(keys, texts, strict=True))
    receipts = {(one["task_id"], one["sample"]): one for one in lines(RECEIPTS)}
    assert sorted(receipts) == sorted(keys)
    for (task_id, sample), one in receipts.items():
        n = int(task_id[1:])
        right = n % 3 or sample % 8 == n
        assert one["outcome"] == ("pass" if right else "assertion_fail"), one
    report = json.loads(REPORT.read_text())
    assert (report["samples"], report["unscored"], report["complete"]) == (expected, 0, True)


def moment(process: subprocess.Popen[bytes], chance: random.Random, total: int) -> None:
    """Wait for a moment to kill: while it starts, in the middle, or while it ends."""
    begun = count()
    kind = chance.choice(["start", "middle", "middle", "middle", "end"])
    if kind == "start":
        time.sleep(chance.uniform(0, 1))
        return
    wanted = total if kind == "end" else begun + chance.randint(1, total // 4)
    while count() < wanted and process.poll() is None:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.03))


def kill_and_go_on(
    rounds: int,
    seed: int,
    left: Callable[[], set[int]],
    scratch: Path,
    *more: str,
    total: int = ALL,
) -> Counter[str]:
    """Kill runs and go on with them; return how many kills came when."""
    chance = random.Random(seed)
    kills: Counter[str] = Counter()
    command = [sys.executable, "-m", "proctor", *ARGS, *more]
    while kills.total() < rounds:
        with Path("said").open("wb") as said:
            process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
            moment(process, chance, total)
            with suppress(ProcessLookupError):  # it had ended
                os.killpg(process.pid, signal.SIGKILL)
            ended = process.wait()
        assert ended in (0, -signal.SIGKILL), Path("said").read_text()
        assert not left(), "who was started by the run ends with it"
        # Tiers with folders leave one if they are killed while they make it; the next run sweeps.
        assert "--sandbox" in more or not list(scratch.iterdir())
        assert str(Path.cwd()) not in Path("/proc/self/mounts").read_text()
        nothing_twice()
        when = "at the start" if not count() else "at the end" if count() == total else "between"
        kills[when] += ended != 0
        if REPORT.exists():
            all_there(total)
            shutil.rmtree("run")
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["samples"] == total
    all_there(total)
    assert not left()
    assert not list(scratch.iterdir())
    return kills


def test_killed_a_few_times(scratch: Path, orphans: Callable[[], set[int]]) -> None:
    kills = kill_and_go_on(6, 7, orphans, scratch)
    assert kills["between"] >= 1, kills


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["contained", "portable"])
def test_killed_in_other_tiers(scratch: Path, orphans: Callable[[], set[int]], tier: str) -> None:
    if tier not in working_tiers():
        pytest.skip(f"the {tier} tier does not work here")
    write_files(4)
    kill_and_go_on(4, 3, orphans, scratch, "--sandbox", tier, total=4 * EACH)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_a_hundred_times(scratch: Path, orphans: Callable[[], set[int]]) -> None:
    kills = kill_and_go_on(100, 1, orphans, scratch)
    print(dict(kills))
    assert kills["between"] >= 40, kills
    assert kills["at the start"] >= 1, kills


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tier", ["contained", "portable"])
def test_killed_often_in_other_tiers(
    scratch: Path, orphans: Callable[[], set[int]], tier: str
) -> None:
    if tier not in working_tiers():
        pytest.skip(f"the {tier} tier does not work here")
    write_files(12)
    kill_and_go_on(25, 5, orphans, scratch, "--sandbox", tier, total=12 * EACH)


# The end of a run, step by step: a kill at each system call that writes the report

STEP = """
import os, signal, sys
from proctor.storage import run_directory
steps = int(sys.argv.pop(1))
def counted(name):
    real = getattr(os, name)
    def call(*args, **more):
        global steps
        if STARTED:
            steps -= 1
            if steps < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)
    setattr(os, name, call)
STARTED = []
for name in ("fsync", "replace", "unlink", "open"):
    counted(name)
write = run_directory.write_whole
def write_whole(path, content):
    if path.name == "report.json":
        STARTED.append(True)
    write(path, content)
run_directory.write_whole = write_whole
from proctor.cli import main
main()
"""


@pytest.mark.slow
def test_killed_while_the_report_is_written(scratch: Path, orphans: Callable[[], set[int]]) -> None:
    write_files(1)
    whole = 0
    for step in range(6):
        shutil.rmtree("run", ignore_errors=True)
        command = [sys.executable, "-c", STEP, str(step), *ARGS]
        ran = subprocess.run(command, capture_output=True, check=False, start_new_session=True)
        assert not orphans()
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL, ran.stderr
        assert count() == EACH
        if REPORT.exists():
            whole += 1
            all_there(EACH)
        again = subprocess.run(
            [sys.executable, "-m", "proctor", *ARGS], capture_output=True, check=False
        )
        assert again.returncode == 0, again.stderr
        all_there(EACH)
        names = ["completions.jsonl", "manifest.json", "receipts.jsonl", "report.json"]
        assert sorted(os.listdir("run")) == names
    assert step >= 3
    assert whole <= step


JUMPS = """
import random, time
chance, real = random.Random(1), time.time
time.time = lambda: real() + chance.uniform(-1e7, 1e7)
time.time_ns = lambda: int(time.time() * 1e9)
from proctor.cli import main
main()
"""


def test_a_clock_that_jumps(scratch: Path) -> None:
    """The time of day decides nothing, neither about limits nor about what is saved when."""
    write_files(4)
    for _ in range(2):
        command = [sys.executable, "-c", JUMPS, *ARGS, "--json"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        found = json.loads(ran.stdout)
        assert (found["samples"], found["unscored"]) == (4 * EACH, 0)
        assert 0 <= found["seconds"] < 600
        all_there(4 * EACH)
