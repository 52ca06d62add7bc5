"""Compare C++ judging by Proctor with one plain g++ call per sample, on the same samples.

    python benchmarks/cpp.py --data FOLDER [--benchmark humaneval-x-cpp] [--tasks 164] [--workers 2]

Each task has ten samples. HumanEval-X: the reference in five spellings, three variants that compute
something else, one without a closing brace, and one without an include. MultiPL-E has no references
and includes the whole standard library: nine samples that return nothing, and one without a brace.

The plain rows compile candidate and tests as one text with `g++` and run the result outside of any
sandbox. Proctor judges tests and candidate apart in its sandbox: first with empty caches, then
with warm caches for tasks but not for samples; in the last row samples repeat, as they do at low
temperatures. Rows take turns, so that a busy moment affects all of them. Compare the ratios only.
Verdicts may differ for variants that read memory outside their own.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from proctor.benchmarks import load
from proctor.extraction.assemble import reference_program
from proctor.grading.engine import JudgeRequest, LocalEngine
from proctor.languages.toolchain import find_toolchain
from proctor.records.program import Program
from proctor.records.task import Task, TestProgram
from proctor.records.verdict import OUTCOMES, Outcome
from proctor.sandbox.tiers.select import open_sandbox

SECONDS = 10
OURS = ("ours, first time here", "ours, all texts differ", "ours, half of them repeat")
TURN = 20
"""Tasks between which rows do not take turns: at the end of each turn a worker may have no work."""
Pairs = list[tuple[Task, Program]]
Say = Callable[[Pairs], list[str]]


def samples(task: Task) -> list[Program]:
    """Return ten programs that differ."""
    right = reference_program(task)
    if right is None:
        nothing = [f"{task.prompt}    return {{}}; // {n}\n}}\n" for n in range(9)]
        return [Program(source=one, language="cpp") for one in (*nothing, task.prompt)]
    text, body = right.source, task.canonical_solution or ""
    front = text[: len(text) - len(body)]
    spelled = [f"{text}\n// spelling {n}\nstatic int spelling_{n} = {n};\n" for n in range(5)]
    changed = [
        front + body.replace(*swap, 1) for swap in ((" + ", " - "), ("==", "!="), ("<", "<="))
    ]
    short = text.rstrip()[:-1]
    lacking = f"{front}\n    std::unordered_multimap<int, int> lacking;\n{body}"
    return [Program(source=one, language="cpp") for one in (*spelled, *changed, short, lacking)]


def plain(task: Task, program: Program) -> str:
    """Judge as people do: one file, one compiler, one exit status."""
    assert isinstance(task.tests, TestProgram)
    toolchain = find_toolchain("cpp")
    words = toolchain.argv(toolchain.compiler(tests=True), "main", 1 << 30)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.cpp").write_text(program.source + "\n" + task.tests.code)
        if subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode:
            return "compile"
        try:
            ran = subprocess.run(
                ["./main"],
                cwd=folder,
                capture_output=True,
                check=False,
                timeout=SECONDS,
                preexec_fn=bounded,
            )
        except subprocess.TimeoutExpired:
            return "fail"
        return "fail" if ran.returncode else "pass"


def bounded() -> None:
    """Give a changed program no more than it can need."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def plainly(workers: int) -> Say:
    """Return what judges as people do, with so many at a time."""

    def say(pairs: Pairs) -> list[str]:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda pair: plain(*pair), pairs))

    return say


def ours(engine: LocalEngine) -> Say:
    """Return what judges as `proctor score` does."""

    def say(pairs: Pairs) -> list[str]:
        begun = [engine.submit(JudgeRequest(task=task, program=one)) for task, one in pairs]
        outcomes = [OUTCOMES[one.result().verdict.bucket] for one in begun]
        known = {Outcome.PASS: "pass", Outcome.SYNTAX_ERROR: "compile"}
        return ["unscored" if one is None else known.get(one, "fail") for one in outcomes]

    return say


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="where benchmarks lie")
    parser.add_argument("--benchmark", default="humaneval-x-cpp")
    parser.add_argument("--tasks", type=int, default=164)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    tasks = load(asked.benchmark, asked.data).tasks[: asked.tasks]
    seconds = dict.fromkeys(("plain g++", *OURS), 0.0)
    differ = []
    with ExitStack() as stack:
        # Headers and tests are compiled once for a user: this one has just come.
        os.environ["HOME"] = stack.enter_context(tempfile.TemporaryDirectory())
        engines = [LocalEngine(open_sandbox("kernel", sys.executable), asked.workers) for _ in OURS]
        for engine in engines:
            stack.callback(engine.close)
        says = [plainly(asked.workers), *map(ours, engines)]
        for begin in range(0, len(tasks), TURN):
            some = [(task, samples(task)) for task in tasks[begin : begin + TURN]]
            whole = [(task, one) for task, ten in some for one in ten]
            half = [(task, one) for task, ten in some for one in [*ten[5:], *ten[5:]]]
            said = []
            for name, say, pairs in zip(seconds, says, (whole, whole, whole, half), strict=True):
                start = time.monotonic()
                said.append(say(pairs))
                seconds[name] += time.monotonic() - start
            differ += [
                f"{task.task_id} sample {n % 10}: plain g++ says {a}, ours {b}, then {c}"
                for n, ((task, _), a, b, c) in enumerate(zip(whole, *said[:3], strict=True))
                if not a == b == c
            ]
    base = seconds["plain g++"]
    print(f"{10 * len(tasks)} samples of {len(tasks)} tasks, {asked.workers} workers")
    for name, spent in seconds.items():
        print(f"{name:<28}{base / spent:>6.2f} times as fast as plain g++")
    print(f"verdicts that differ: {len(differ)}")
    print("\n".join(differ))


if __name__ == "__main__":
    main()
