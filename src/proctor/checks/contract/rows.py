"""Lines about the rows themselves: they can be read, told apart, and come in one order."""

import json
import subprocess
import sys
from collections import Counter
from typing import Any

from proctor import fork_safe_fds
from proctor.checks.contract.evidence import Contract, ContractSubject, Evidence
from proctor.checks.contract.result import SHOWN, Status
from proctor.errors import HostError, boundary
from proctor.records.task import Benchmark
from proctor.settings import environment

SEEDS = ("1", "2")
SECONDS = 600


def schema(exam: Contract) -> Evidence:
    """Read every row."""
    wrong = exam.facts.wrong
    if wrong:
        count = f"{len(wrong)} of {exam.facts.rows} rows cannot be used: "
        return Evidence(Status.BROKEN, f"{count}{wrong[0]}")
    return Evidence(Status.HELD, f"all of {exam.facts.rows} rows can be read")


def tasks(exam: Contract) -> Evidence:
    """Count the rows."""
    if not exam.facts.rows:
        return Evidence(Status.BROKEN, f"{exam.subject.paths[0]}: there are no tasks in it")
    return Evidence(Status.HELD, f"there are {exam.facts.rows}")


def ids(exam: Contract) -> Evidence:
    """See whether two tasks have one id."""
    twice = exam.facts.twice
    if twice:
        count = f"{len(twice)} of {exam.facts.rows} rows have the id of another one"
        return Evidence(Status.BROKEN, f"{count}, the first of which is {twice[0]}", twice[:SHOWN])
    return Evidence(Status.HELD, f"{len(exam.facts.ids)} tasks have as many ids")


def order(exam: Contract) -> Evidence:
    """Load it in two fresh processes whose hashes differ, and compare with what is loaded here."""
    here = listing(exam.whole)
    for seed in SEEDS:
        there = _elsewhere(exam.subject, seed)
        if isinstance(there, str):
            return Evidence(Status.UNKNOWN, f"it cannot be loaded in a process of its own: {there}")
        if there != here:
            return _differs(here, there, seed)
    sha256 = exam.whole.sha256[:16]
    return Evidence(Status.HELD, f"three processes with other hash seeds agree on sha256 {sha256}…")


def _differs(here: list[list[str]], there: list[list[str]], seed: str) -> Evidence:
    names, others = [one[0] for one in here], [one[0] for one in there]
    when = f"in a process with hash seed {seed}"
    if names == others:
        changed = [one[0] for one, other in zip(here, there, strict=True) if one != other]
        what = f"{len(changed)} tasks have another content {when}: {changed[0]}"
        return Evidence(Status.BROKEN, what, changed[:SHOWN])
    if sorted(names) == sorted(others):
        place = next(i for i, name in enumerate(names) if name != others[i])
        what = f"task {place + 1} is {names[place]} here and {others[place]} {when}"
        return Evidence(Status.BROKEN, what, [names[place]])
    return Evidence(
        Status.BROKEN, f"there are {len(names)} tasks here and {len(others)} others {when}"
    )


def listing(benchmark: Benchmark) -> list[list[str]]:
    """Return ids and digests of all tasks in order."""
    return [[task.task_id, task.sha256] for task in benchmark.tasks]


def _elsewhere(subject: ContractSubject, seed: str) -> Any:
    """Return the listing of a benchmark as a fresh process has it, or why there is none."""
    places = [subject.data, subject.folder]
    words = [subject.name, *("" if place is None else str(place) for place in places)]
    argv = [sys.executable, "-P", "-m", "proctor.checks.contract.list_tasks", *words]
    with boundary(HostError, "cannot start another Python"), fork_safe_fds.no_forks():
        process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(PYTHONHASHSEED=seed),
        )
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECONDS} s"
    finally:
        process.kill()
        process.wait()
    said = err.decode("utf-8", "replace").strip().splitlines()[-1:]
    return json.loads(out) if process.returncode == 0 else (said or ["it says nothing"])[0]


def difficulty(exam: Contract) -> Evidence:
    """Compare the shares of difficulties, of all tasks, with the bands that are declared."""
    bands = exam.subject.declares.difficulty
    if not bands:
        return Evidence(Status.DOES_NOT_APPLY, "the benchmark declares no bands")
    every = [(task.task_id, task.metadata.difficulty) for task in exam.whole.tasks]
    count = Counter(level for _, level in every)
    shares = {name: count[name] / len(every) for name in bands}
    shown = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    for name, share in shares.items():
        low, high = bands[name]
        if not low <= share <= high:
            what = f"{name} is {share:.0%} of {len(every)} tasks, declared {low:.0%} to {high:.0%}"
            return Evidence(Status.BROKEN, what)
    strange = [task_id for task_id, level in every if level not in bands]
    if strange:
        what = f"{len(strange)} tasks have a difficulty that is not declared: {strange[0]}"
        return Evidence(Status.BROKEN, what, strange[:SHOWN])
    return Evidence(Status.HELD, f"{shown} of {len(every)} tasks")
