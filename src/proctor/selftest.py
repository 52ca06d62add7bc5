"""The hostile corpus: programs that each must land in the bucket their folder is named after.

A program answers one question, `double(x)`; as a program of its own it reads a number and prints
its double. Its first lines may say

    # kinds: all stdin       the kinds of tests it is run under; `all` are the four kinds of calls
    # class: reading         what it is about, see CLASSES
    # tiers: kernel docker   where it may be run; a program that needs walls must not go without
    # seconds: 0.5           how much time it has
    # memory: 1024           how much memory it has, in MiB
    # denylist               the task refuses some imports

Files `name.1.py`, `name.2.py` are run one after the other in the same box: what the first leaves
behind is what the second looks for. Whatever a program tries to leave on the host has `MARK` in its
name, so that `traces` finds it.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.judge import Judge, Judgement
from proctor.program import Program
from proctor.sandbox import MIB, Limits, Sandbox
from proctor.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Metadata,
    StdinCases,
    Task,
    Tests,
    UnitTests,
)
from proctor.verdict import Bucket

CLASSES = {
    "reading": "reading what is not theirs",
    "processes": "other processes and the system",
    "persistence": "leaving something for the next",
    "network": "network",
    "resources": "using more than allowed",
    "forging": "forging a verdict or a failure",
    "cheats": "passing without solving",
    "mistakes": "honest mistakes",
    "honest": "honest solutions",
}

KINDS: dict[str, Tests] = {
    "plain": Assertions(targets=["double(1) == 2", "assert double(21) == 42", "double(-3) == -6"]),
    "examined": Assertions(targets=["1e-9 > abs(double(0.5) - 1.0)", "double(21) == 42"]),
    "check": CheckFunction(
        code="def check(candidate):\n"
        "    for x in (1, 21, -3):\n"
        "        assert candidate(x) == x + x\n"
        "    assert candidate(0.25) == 0.5\n"
    ),
    "calls": CallCases(fn_name="double", inputs=[[1], [21], [-3]], outputs=[2, 42, -6]),
    "stdin": StdinCases(inputs=["1\n", "21\n"], outputs=["2\n", "42\n"]),
    "unittest": UnitTests(
        code="import unittest\n\n\n"
        "class TestDouble(unittest.TestCase):\n"
        "    def test_small(self):\n        self.assertEqual(double(1), 2)\n\n"
        "    def test_large(self):\n        self.assertEqual(double(21), 42)\n\n"
        "    def test_negative(self):\n        self.assertTrue(double(-3) == -6)\n"
    ),
}
CALLS = ("plain", "examined", "check", "calls")
EXAMINED = ("examined", "check")
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=2.0, memory_bytes=256 * MIB)
SOLUTION = "def double(x):\n    return x + x\n"

MARK = "proctor-corpus"
IPC_KEY = 0x50524F43
PLACES = ("~", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/")  # noqa: S108
PATIENCE_SECONDS = 5.0


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One program, or several that follow one another, under one kind of tests."""

    name: str
    kind: str
    topic: str
    bucket: Bucket
    sources: Sequence[str]
    tiers: Sequence[str]
    """Where it may be run; everywhere if there are none."""
    limits: Limits
    denylist: bool

    def fits(self, tier: str) -> bool:
        """Say whether it may be run in a tier."""
        return not self.tiers or tier in self.tiers


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a trial landed."""

    program: str
    kind: str
    topic: str
    expected: str
    got: str
    ok: bool
    detail: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all trials in one tier on this host."""

    sandbox: str
    isolated: bool
    ok: bool
    """Whether every program landed where it should, and nothing was left behind."""
    skipped: Sequence[str]
    """Programs that need walls which this tier does not have."""
    left: Sequence[str]
    """What they left on the host."""
    landings: Sequence[Landing]
    seconds: float


def corpus_folder() -> Path:
    """Return where the programs are: beside this module, or in the checkout it belongs to."""
    here = Path(__file__).parent
    for folder in (here / "corpus", here.parent.parent / "tests" / "corpus"):
        if (folder / "python").is_dir():
            return folder / "python"
    raise SandboxError("the corpus is missing from this installation; install proctor again")


def trials(folder: Path) -> list[Trial]:
    """Return all trials of a corpus, in order of their names."""
    paths = sorted(folder.rglob("*.py"))
    parts = groupby(paths, lambda path: path.with_name(re.sub(r"(\.\d)?\.py$", "", path.name)))
    return [trial for name, group in parts for trial in _trials_of(name, list(group))]


def chosen_trials(topics: str, *, quick: bool) -> list[Trial]:
    """Return the trials of some classes, all of them if none is named; `quick`: one a program."""
    wanted = [topic.strip() for topic in topics.split(",") if topic.strip()]
    for topic in wanted:
        if topic not in CLASSES:
            raise InputError(f"--class {topic}: known are {', '.join(CLASSES)}")
    found = [one for one in trials(corpus_folder()) if not wanted or one.topic in wanted]
    return list({one.name: one for one in reversed(found)}.values())[::-1] if quick else found


def _trials_of(name: Path, paths: Sequence[Path]) -> Iterator[Trial]:
    sources = [path.read_bytes().decode() for path in paths]
    head = sources[0][:400]
    kinds = _said(head, "kinds") or ["all"]
    default = "honest" if name.parent.name == Bucket.PASSED else "mistakes"
    for kind in (*(CALLS if "all" in kinds else ()), *(kind for kind in kinds if kind != "all")):
        yield Trial(
            name=f"{name.parent.name}/{name.name}",
            kind=kind,
            topic=(_said(head, "class") or [default])[0],
            bucket=Bucket(name.parent.name),
            sources=sources,
            tiers=_said(head, "tiers"),
            limits=_limits(head),
            denylist="# denylist\n" in head,
        )


def _limits(head: str) -> Limits:
    limits = LIMITS
    if seconds := _said(head, "seconds"):
        limits = limits.with_seconds(float(seconds[0]))
    if memory := _said(head, "memory"):
        limits = msgspec.structs.replace(limits, memory_bytes=int(memory[0]) * MIB)
    return limits


def _said(head: str, key: str) -> list[str]:
    found = re.search(rf"^# {key}: (.*)$", head, re.MULTILINE)
    return found[1].split() if found else []


def run_all(
    make: Callable[[], Sandbox],
    chosen: Sequence[Trial],
    *,
    workers: int,
    watch: Callable[[], None] = lambda: None,
) -> Findings:
    """Run trials; every worker has a sandbox of its own, so that parts of one share a box."""
    start = time.monotonic()
    sandboxes = [make() for _ in range(workers)]
    try:
        held = sandboxes[0].enforcement()
        fit = [trial for trial in chosen if trial.fits(held.tier)]
        free = SimpleQueue[Sandbox]()
        for sandbox in sandboxes:
            free.put(sandbox)

        def run(trial: Trial) -> Landing:
            sandbox = free.get()
            try:
                return run_trial(sandbox, trial)
            finally:
                free.put(sandbox)
                watch()

        with ThreadPoolExecutor(workers) as pool:
            landings = list(pool.map(run, fit))
    finally:
        for sandbox in sandboxes:
            sandbox.close()
    left = traces()
    return Findings(
        sandbox=held.tier,
        isolated=held.isolated,
        ok=all(landing.ok for landing in landings) and not left,
        skipped=sorted({trial.name for trial in chosen} - {trial.name for trial in fit}),
        left=left,
        landings=landings,
        seconds=round(time.monotonic() - start, 3),
    )


def run_trial(sandbox: Sandbox, trial: Trial) -> Landing:
    """Judge the programs of a trial and say where they landed, all of them or the first stray."""
    landings = [_landing(trial, judgement) for judgement in _judgements(sandbox, trial)]
    strays = [landing for landing in landings if not landing.ok]
    return (strays or landings)[0]


def _judgements(sandbox: Sandbox, trial: Trial) -> Iterator[Judgement]:
    task = Task(
        task_id=f"corpus/{trial.kind}",
        entry_point="double",
        tests=KINDS[trial.kind],
        metadata=Metadata(denylist=trial.denylist),
        canonical_solution=SOLUTION,
        limits=trial.limits,
    )
    judge = Judge(sandbox)
    programs = [Program(source=source) for source in trial.sources]
    yield from (judge.judge(task, program) for program in programs)
    if trial.kind in EXAMINED:  # once more, when the judge knows what the test asks
        judge.judge(task, Program(source=SOLUTION))
        yield from (judge.judge(task, program) for program in programs)


def _landing(trial: Trial, judgement: Judgement) -> Landing:
    verdict = judgement.verdict
    together = trial.kind == "unittest"
    return Landing(
        program=trial.name,
        kind=trial.kind,
        topic=trial.topic,
        expected=trial.bucket,
        got=verdict.bucket,
        ok=verdict.bucket is trial.bucket and (judgement.judged == "together") is together,
        detail=verdict.detail,
    )


def traces() -> list[str]:
    """Return what programs of the corpus have left on this host; what is about to go may go."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := sorted(_traces())) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _traces() -> Iterator[str]:
    for folder in PLACES:
        place = os.path.expanduser(folder)  # noqa: PTH111  which does not mind users without a home
        yield from (str(path) for path in Path(place).glob(f"*{MARK}*"))
    for table in ("shm", "sem", "msg"):
        for line in _text(f"/proc/sysvipc/{table}").splitlines():
            if line.split()[0] == str(IPC_KEY):
                yield f"System V {table} {IPC_KEY:#x}"
    for name in ("mountinfo", "net/unix"):
        yield from (line for line in _text(f"/proc/self/{name}").splitlines() if MARK in line)
    for comm in Path("/proc").glob("[0-9]*/comm"):
        if _text(str(comm)).strip() == MARK:
            yield f"process {comm.parent.name}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""  # it went meanwhile, or this host has none
