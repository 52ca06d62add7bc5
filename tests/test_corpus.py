"""Every program of the corpus lands in the bucket that its folder is named after.

A program answers one question, `double(x)`; as a program of its own it reads a number and prints
its double. Its first lines may say `# kinds: all stdin` (which kinds of tests to run it under; all
kinds of calls by default) and `# denylist`. A new attack is a new file and no new test code.
"""

import re
from pathlib import Path

import pytest

from proctor.judge import Judge
from proctor.program import Program
from proctor.sandbox import MIB, Limits, Sandbox
from proctor.task import Assertions, CallCases, CheckFunction, Metadata, StdinCases, Task, Tests
from proctor.verdict import Bucket, outcome_of

CORPUS = Path(__file__).parent / "corpus" / "python"
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=2.0, memory_bytes=256 * MIB)

KINDS: dict[str, Tests] = {
    "plain": Assertions(targets=["double(1) == 2", "assert double(21) == 42", "double(-3) == -6"]),
    "examined": Assertions(targets=["abs(double(0.5) - 1.0) < 1e-9", "double(21) == 42"]),
    "check": CheckFunction(
        code="def check(candidate):\n"
        "    for x in (1, 21, -3):\n"
        "        assert candidate(x) == x + x\n"
        "    assert candidate(0.25) == 0.5\n"
    ),
    "calls": CallCases(fn_name="double", inputs=[[1], [21], [-3]], outputs=[2, 42, -6]),
    "stdin": StdinCases(inputs=["1\n", "21\n"], outputs=["2\n", "42\n"]),
}

EXAMINED = ("examined", "check")
HONEST = Program(source="def double(x):\n    return x + x\n")


def programs() -> list[tuple[Path, str]]:
    found = []
    for path in sorted(CORPUS.rglob("*.py")):
        head = path.read_bytes()[:200].decode()
        said = re.search(r"^# kinds: (.*)$", head, re.MULTILINE)
        kinds = said[1].split() if said else ["all"]
        if "all" in kinds:
            kinds = ["plain", "examined", "check", "calls", *(k for k in kinds if k != "all")]
        found += [(path, kind) for kind in kinds]
    return found


@pytest.mark.parametrize(
    ("path", "kind"),
    programs(),
    ids=lambda p: f"{p.parent.name}/{p.stem}" if isinstance(p, Path) else p,
)
@pytest.mark.usefixtures("nothing_left")
def test_lands_in_its_bucket(sandbox: Sandbox, path: Path, kind: str) -> None:
    source = path.read_bytes().decode()
    task = Task(
        task_id=f"corpus/{path.stem}",
        entry_point="double",
        tests=KINDS[kind],
        metadata=Metadata(denylist="# denylist" in source),
        limits=LIMITS,
    )
    judge = Judge(sandbox)
    judgements = [judge.judge(task, Program(source=source))]
    if kind in EXAMINED:  # once more, when the judge knows what the test asks
        judge.judge(task, HONEST)
        judgements.append(judge.judge(task, Program(source=source)))
    for judgement in judgements:
        verdict = judgement.verdict
        assert verdict.bucket is Bucket(path.parent.name), verdict
        assert judgement.judged == "apart"
        assert (outcome_of(verdict) == "pass") is (path.parent.name == "passed")


def test_the_corpus_is_where_it_should_be() -> None:
    folders = {path.name for path in CORPUS.iterdir()}
    assert folders <= set(Bucket), "a folder is named after a bucket"
    assert {"passed", "wrong_answer", "tampering", "early_exit", "cpu_time"} <= folders
