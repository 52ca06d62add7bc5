"""`grade_many` in an event loop beside `proctor score`: how fast, and how much memory.

python benchmarks/in_process.py --count 10000

Both judge the same programs with as many workers as there are processors, one after the other,
round by round: HumanEval's own solutions, each made distinct by a comment. Both rates are those of
the samples after the first tenth, so that what is done once (starting, loading) counts for neither:
for `proctor score` from two runs, in the loop by the clock. The loop takes its samples from an
asynchronous stream, as mappings, and a heart beats in it meanwhile; the longest pause between two
beats tells whether it was ever blocked.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec

import proctor
from proctor.benchmarks import load

FIELDS = ("task_id", "prompt", "entry_point", "tests", "canonical_solution")
BEAT = 0.01
MARKS = 10
"""How often memory is looked at."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="distinct programs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loop", type=Path, help=argparse.SUPPRESS)  # the child's part
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if asked.loop:
        rows = [json.loads(line) for line in asked.loop.read_text().splitlines()]
        print(json.dumps(asyncio.run(in_loop(rows, asked.count))))
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        rows = write_tasks(work / "tasks.jsonl")
        for count in (asked.count // 10, asked.count):
            write_samples(rows, work / f"{count}.jsonl", count)
        rounds = [compare(work, asked.count) for _ in range(asked.rounds)]
    show(rounds, as_json=asked.json)


def write_tasks(path: Path) -> list[dict[str, Any]]:
    """Write HumanEval as a tasks file and return its rows."""
    tasks = (msgspec.to_builtins(task) for task in load("humaneval").tasks)
    rows = [{name: task[name] for name in FIELDS} for task in tasks]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def samples(rows: list[dict[str, Any]], count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield so many programs, no two alike."""
    for number in range(count):
        row = rows[number % len(rows)]
        yield row, f"{row['canonical_solution']}\n# sample {number}\n"


def write_samples(rows: list[dict[str, Any]], path: Path, count: int) -> None:
    lines = (
        json.dumps({"task_id": row["task_id"], "completion": text})
        for row, text in samples(rows, count)
    )
    path.write_text("".join(line + "\n" for line in lines))


def compare(work: Path, count: int) -> dict[str, Any]:
    """Run both once."""
    few, many = (score(work, part) for part in (count // 10, count))
    command = [sys.executable, __file__, "--loop", str(work / "tasks.jsonl"), "--count", str(count)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"score": (count - count // 10) / (many - few), "loop": json.loads(ran.stdout)}


def score(work: Path, count: int) -> float:
    """Return how long `proctor score` takes."""
    command = [
        *(sys.executable, "-m", "proctor", "score", str(work / "tasks.jsonl"), "--no-reuse"),
        *("--partial", "--completions", str(work / f"{count}.jsonl")),
        *("--fresh", "--out", str(work / "run")),
    ]
    begin = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begin


async def in_loop(rows: list[dict[str, Any]], count: int) -> dict[str, Any]:
    """Grade all samples in this loop; return the rate, memory at every mark, the longest pause."""
    memory, passed, begin, longest = [], 0, 0.0, [0.0]

    async def source() -> AsyncIterator[tuple[dict[str, Any], str]]:
        for sample in samples(rows, count):
            yield sample

    heart = asyncio.ensure_future(beat(longest))
    async for receipt in proctor.grade_many(source()):
        passed += receipt.outcome == "pass"
        if (receipt.sample + 1) % (count // MARKS) == 0:
            memory.append(resident())
        if receipt.sample + 1 == count // 10:
            begin, longest[0] = time.perf_counter(), 0.0
    rate = (count - count // 10) / (time.perf_counter() - begin)
    heart.cancel()
    return {"rate": rate, "passed": passed, "memory_mib": memory, "pause_ms": 1e3 * longest[0]}


async def beat(longest: list[float]) -> None:
    while True:
        before = time.perf_counter()
        await asyncio.sleep(BEAT)
        longest[0] = max(longest[0], time.perf_counter() - before - BEAT)


def resident() -> float:
    """Return this process's memory in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def show(rounds: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rounds))
        return
    print(f"{'proctor score':>14} {'grade_many':>11} {'ratio':>6}   memory, MiB; longest pause")
    for one in rounds:
        loop = one["loop"]
        memory = " ".join(f"{size:.0f}" for size in loop["memory_mib"])
        print(
            f"{one['score']:>12.1f}/s {loop['rate']:>9.1f}/s {loop['rate'] / one['score']:>6.2f}   "
            f"{memory}; {loop['pause_ms']:.0f} ms; {loop['passed']} passed"
        )
    ratio = statistics.median(one["loop"]["rate"] / one["score"] for one in rounds)
    print(f"median ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
