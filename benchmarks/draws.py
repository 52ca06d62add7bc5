"""What many draws of few programs cost: time and memory by their number, and how fast one goes on.

    python benchmarks/draws.py [--draws 1000,10000,100000,1000000] [--workers 2] [--no-kill]

One draw in fifty is of a program that no other draw before it was of, in an order that mixes all of
them. `proctor score` is run on files of growing numbers of draws and looked at from outside: how
long it takes, how much processor time that was, the most memory that the driver ever had. Then it
is killed half-way and started again: how long it takes until the first draw that was not yet graded
has its receipt, and whether in the end every draw has one, with the verdict that it should have.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TASKS = 20
DRAWS_A_PROGRAM = 50
PAUSE = 0.01


class Took(NamedTuple):
    seconds: float
    cpu_seconds: float
    memory_mib: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", default="1000,10000,100000", help="how many, from few to many")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the order and of what is right")
    parser.add_argument("--no-kill", action="store_true", help="leave out what is killed half-way")
    parser.add_argument("--folder", type=Path, help="where files are made; some gigabytes for 10^6")
    args = parser.parse_args()
    sizes = [int(word) for word in args.draws.split(",")]
    names = ("draws", "programs", "s", "cpu s", "cpu us/draw", "MiB", "goes on s")
    print("".join(f"{name:>13}" for name in names))
    for draws in sizes:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            os.chdir(folder)
            right = write_files(draws, args.seed)
            took = whole("run", args.workers)
            check("run", right)
            shutil.rmtree("run")
            again = ""
            if not args.no_kill:
                again = f"{killed('killed', draws, args.workers):.2f}"
                check("killed", right)
            each = took.cpu_seconds / draws * 1e6
            row = (draws, programs(draws), f"{took.seconds:.1f}", f"{took.cpu_seconds:.1f}")
            row += (f"{each:.0f}", f"{took.memory_mib:.0f}", again)
            print("".join(f"{word:>13}" for word in row), flush=True)
            os.chdir("/")


def programs(draws: int) -> int:
    return max(TASKS, draws // DRAWS_A_PROGRAM)


def write_files(draws: int, seed: int) -> list[bytearray]:
    """Write tasks and draws; return which samples of each task are right."""
    chance = random.Random(seed)
    each = programs(draws) // TASKS
    with Path("tasks.jsonl").open("w") as file:
        for n in range(TASKS):
            tests = {"kind": "assertions", "targets": [f"f({n}) == {n * n}", f"f(1) == {n}"]}
            file.write(json.dumps({"task_id": f"t{n}", "tests": tests}) + "\n")
    right = [bytearray() for _ in range(TASKS)]
    order = list(range(draws))
    chance.shuffle(order)
    with Path("s.jsonl").open("w") as file:
        for number in order:
            task, program = number % TASKS, number // TASKS % each
            good = program % 3 == 0
            off = 0 if good else program
            code = f"def f(x):\n    # way {program}\n    return {task} * x + {off}\n"
            right[task].append(good)
            file.write(json.dumps({"task_id": f"t{task}", "completion": code}) + "\n")
    return right


def command(out: str, workers: int) -> list[str]:
    args = ["score", "tasks.jsonl", "--completions", "s.jsonl", "--out", out, "--json"]
    return [sys.executable, "-m", "proctor", *args, "--workers", str(workers)]


def start(out: str, workers: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(out, workers), stdout=subprocess.DEVNULL, start_new_session=True
    )


def whole(out: str, workers: int) -> Took:
    """Run to the end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = start(out, workers)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(PAUSE)
    seconds = time.monotonic() - begin
    if process.returncode:
        raise SystemExit(f"it ended with status {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(seconds, cpu, peak)


def memory(pid: int) -> float:
    """Return the most memory that a process had up to now, in MiB."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def killed(out: str, draws: int, workers: int) -> float:
    """Kill it when half is done; return how long the next one takes until it has done one more."""
    process = start(out, workers)
    wait_for(process, out, draws // 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = lines(out)
    begin = time.monotonic()
    process = start(out, workers)
    wait_for(process, out, done + 1)
    seconds = time.monotonic() - begin
    if process.wait():
        raise SystemExit(f"it ended with status {process.returncode}")
    return seconds


def wait_for(process: subprocess.Popen[bytes], out: str, wanted: int) -> None:
    """Wait until so many receipts are there; only what is new is read."""
    found, place = 0, 0
    path = Path(out, "receipts.jsonl")
    while found < wanted and process.poll() is None:
        if path.exists():
            with path.open("rb") as file:
                file.seek(place)
                while chunk := file.read(1 << 20):
                    found += chunk.count(b"\n")
                    place += len(chunk)
        time.sleep(PAUSE)


def lines(out: str) -> int:
    with Path(out, "receipts.jsonl").open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def check(out: str, right: list[bytearray]) -> None:
    """See that every draw has one receipt, and that it says what it should."""
    seen = [bytearray(len(marks)) for marks in right]
    ran = 0
    for one in receipts(out):
        task, sample = int(one["task_id"][1:]), one["sample"]
        passed = bool(right[task][sample])
        if seen[task][sample] or one["outcome"] != ("pass" if passed else "assertion_fail"):
            raise SystemExit(f"{out}: sample {sample} of t{task} is wrong")
        seen[task][sample] = 1
        ran += one["reused_from"] is None
    if not all(all(marks) for marks in seen):
        raise SystemExit(f"{out}: some draws have no receipt")
    distinct = programs(sum(map(len, right)))
    if ran > distinct * 1.01 + 10:  # a kill may cost those that ran
        raise SystemExit(f"{out}: {ran} programs were run, though only {distinct} differ")


def receipts(out: str) -> Iterator[dict[str, object]]:
    with Path(out, "receipts.jsonl").open("rb") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
