"""A run that is stopped or killed at any moment can be gone on with, and leaves nobody behind."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
ARGS = ("score", "tasks.jsonl", "--completions", "s.jsonl", "--out", "run", "--workers", "2")
TASKS = 12


@pytest.fixture
def files(alone: Path, jsonl: Write) -> Path:
    """Make samples that take a while, each with a program of its own."""
    tests = {"kind": "assertions", "targets": ["f(1) == 1", "abs(f(2)) == 2"]}
    jsonl("tasks.jsonl", [{"task_id": f"t{n}", "tests": tests} for n in range(TASKS)])
    nap = "import time\ntime.sleep(0.05)\n"
    rows = [
        {"task_id": f"t{n}", "solution": f"{nap}def f(x):\n    return x if {n} % 3 else {s}"}
        for n in range(TASKS)
        for s in range(3)
    ]
    jsonl("s.jsonl", rows)
    slow = "import time\ntime.sleep(0.5)\ndef f(x): return x"
    jsonl("slow.jsonl", [{"task_id": f"t{n}", "solution": f"{slow} # {n}"} for n in range(TASKS)])
    return alone


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "proctor", *args]


HEARS = (
    "import signal; signal.signal(signal.SIGINT, signal.{}); from proctor.cli import main; main()"
)


def start(*args: str, ear: str = "default_int_handler") -> subprocess.Popen[str]:
    """Start a command in a session of its own that hears SIGINT, whatever our parent did."""
    return subprocess.Popen(
        [sys.executable, "-c", HEARS.format(ear), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def receipts() -> list[dict[str, Any]]:
    path = Path("run/receipts.jsonl")
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def each_once(expected: int) -> None:
    counted = Counter((one["task_id"], one["sample"]) for one in receipts())
    assert set(counted.values()) == {1}
    assert len(counted) == expected
    completions = Path("run/completions.jsonl").read_text().splitlines()
    assert len({json.loads(line)["id"] for line in completions}) == len(completions) == expected


def below(pid: int) -> set[int]:
    """Return every process below a process, with those of other sessions."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        for path in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            try:
                children = {int(child) for child in path.read_text().split()}
            except OSError:
                continue
            found |= children
            pending += children
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists() and not zombie(pid)}


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def gone(pids: set[int], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pids)


def wait_for(what: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def watched() -> Iterator[list[subprocess.Popen[str]]]:
    """Hold processes, and end those that a failed test left."""
    held: list[subprocess.Popen[str]] = []
    yield held
    for process in held:
        if process.poll() is None:
            process.kill()
        process.communicate()


def kill_and_resume(watched: list[subprocess.Popen[str]], rounds: int, seed: int) -> int:
    """Kill a run at random moments, resume it, and return how often that was in the middle."""
    chance = random.Random(seed)
    middle = 0
    for _ in range(rounds):
        process = start(*ARGS)
        watched.append(process)
        wait_for(partial(_reached, process, len(receipts()) + chance.randrange(4)))
        time.sleep(chance.uniform(0, 0.1))
        family = below(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        middle += process.wait() == -signal.SIGKILL and 0 < len(receipts()) < 3 * TASKS
        assert gone(family), "what it had started ends with it"
        seen = Counter((one["task_id"], one["sample"]) for one in receipts())
        assert set(seen.values()) <= {1}
        assert len(seen) == 3 * TASKS or not Path("run/report.json").exists(), "it comes last"
    done = subprocess.run(command(*ARGS, "--json"), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["samples"], found["unscored"], found["degraded"]) == (3 * TASKS, 0, False)
    each_once(3 * TASKS)
    return middle


def _reached(process: subprocess.Popen[str], number: int) -> bool:
    return len(receipts()) >= number or process.poll() is not None


def test_kill_9_at_any_moment(files: Path, watched: list[subprocess.Popen[str]]) -> None:
    assert kill_and_resume(watched, 5, seed=1) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_kill_9_at_many_moments(
    files: Path, watched: list[subprocess.Popen[str]], seed: int
) -> None:
    assert kill_and_resume(watched, 12, seed) >= 6


SLOW = tuple("slow.jsonl" if arg == "s.jsonl" else arg for arg in ARGS)


def test_ctrl_c_once_finishes_and_saves_what_runs(
    files: Path, watched: list[subprocess.Popen[str]]
) -> None:
    process = start(*SLOW)
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 2)
    family = below(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-2:] == [
        "proctor: finishing what runs; Ctrl-C again stops now",
        "proctor: interrupted; the same command with --out run goes on",
    ]
    saved = receipts()
    assert 3 <= len(saved) < TASKS
    assert {one["outcome"] for one in saved} == {"pass"}, "what ran was finished, not cut off"
    assert not Path("run/report.json").exists()
    assert gone(family)
    done = subprocess.run(command(*SLOW), capture_output=True, text=True, check=True)
    assert "12 of 12 samples passed" in done.stdout
    assert receipts()[: len(saved)] == saved
    each_once(TASKS)


def test_ctrl_c_twice_stops_now(files: Path, jsonl: Write, watched: Any) -> None:
    rows = [
        {"task_id": f"t{n}", "solution": f"import time\ntime.sleep({25 * (n > 1)} + {n} / 1000)"}
        for n in range(TASKS)
    ]
    jsonl("slow.jsonl", rows)
    process = start(*SLOW, "--timeout", "30")
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 2)
    time.sleep(0.3)
    family = below(process.pid)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None, "the first time it waits"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - begun < 10
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "proctor: interrupted; the same command with --out run goes on"
    assert "Traceback" not in err
    assert gone(family)
    assert len(receipts()) == 2


def test_ctrl_c_before_it_begins(files: Path, watched: list[subprocess.Popen[str]]) -> None:
    """While files are read there is nothing to save."""
    os.mkfifo("pipe")
    process = start("exec", "pipe")
    watched.append(process)
    ends: list[int] = []

    def is_read() -> bool:
        try:  # it opens only when the other end is open
            ends.append(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    wait_for(is_read)
    # Between opening and reading Python would hear the signal only after what it reads.
    wait_for(lambda: "pipe_read" in Path(f"/proc/{process.pid}/wchan").read_text())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    os.close(ends[0])
    assert (process.returncode, out, err) == (130, "", "proctor: interrupted\n")


def test_two_processes_on_one_folder(files: Path, watched: list[subprocess.Popen[str]]) -> None:
    process = start(*SLOW)
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 1)
    process.send_signal(signal.SIGSTOP)  # it must not be done before the others have tried
    for more in ((), ("--fresh",)):
        second = subprocess.run(command(*SLOW, *more), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert second.stderr.splitlines()[-1] == (
            "proctor: run is in use by another process; wait for it, or name another --out"
        )
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    each_once(TASKS)


def test_who_was_told_not_to_listen_does_not(
    files: Path, watched: list[subprocess.Popen[str]]
) -> None:
    """As a job in the background of a script."""
    process = start(*SLOW, ear="SIG_IGN")
    watched.append(process)
    wait_for(lambda: len(receipts()) >= 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    each_once(TASKS)
