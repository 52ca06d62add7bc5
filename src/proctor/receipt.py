"""All that is needed to dispute a verdict: the receipt of one sample, the manifest of one run."""

import hashlib
import platform
import socket
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, NamedTuple

import msgspec

from proctor.completion import Completion, Sampling, StopReason
from proctor.extraction import Extraction, NoCode
from proctor.judge import Judgement
from proctor.lines import encode
from proctor.program import Program
from proctor.sandbox import KIB, Enforcement, Limits, Usage
from proctor.task import ReferenceCases, Task
from proctor.verdict import Bucket, Outcome, TestResult, Verdict, decide, outcome_of

MAX_OUTPUT = 8 * KIB
MAX_LABELS, MAX_LABEL = 20, 80
SCHEMA = 1
NOTES = frozenset({"asked", "unguarded", "not_linked"})
CIRCUMSTANCES = ("created", "host", "source")
"""Fields of a manifest that say when and where, not what."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one sample."""

    task_id: str
    sample: int
    """Counts a task's samples from 0, in the order they came."""
    outcome: Outcome | None
    """None if the sample is unscored."""
    bucket: Bucket
    detail: str
    score: float | None
    tests: Sequence[TestResult]
    groups: Mapping[str, Bucket] = {}
    """What became of each part of the tests, where a task's tests have parts."""
    labels: Sequence[str] = ()
    """The task's difficulty and tags, as in `difficulty:easy` and `tag:strings`."""
    judged: str
    """`apart`, or `together` with the tests in one process."""
    notes: Sequence[str] = ()
    """`asked`: the verdict rests on what objects of the candidate said of themselves.

    `not_linked`: its translation unit compiled, but no program could be made of it.
    """
    sandbox: str
    isolated: bool
    clock: str
    language: str
    toolchain: str
    limits: Limits
    extraction: Mapping[str, str]
    code: str
    stop: StopReason = StopReason.STOP
    """Why the model stopped; `length`: its answer is cut off."""
    completion_sha256: str
    program_sha256: str | None
    task_sha256: str
    usage: Usage
    stdout: str
    stderr: str
    truncated: bool
    """Whether `stdout` or `stderr` is cut."""
    reused_from: int | None = None
    """The sample whose identical program was run in place of this one."""
    attempts: int
    host: str
    schema: int = SCHEMA


def how(extraction: Extraction | NoCode) -> dict[str, str]:
    """Say which rule found the code, or why there is none."""
    match extraction:
        case Extraction(rule=rule):
            return {"rule": rule}
        case NoCode(reason=reason):
            return {"rule": "none", "reason": reason}


def labels_of(task: Task) -> list[str]:
    """Return what a task is called besides its id, so that a report can tell its kind apart."""
    known = task.metadata
    labels = [f"difficulty:{known.difficulty}"] if known.difficulty else []
    labels += [f"tag:{tag}" for tag in known.tags]
    return [label[:MAX_LABEL] for label in labels[:MAX_LABELS]]


def groups_of(task: Task, verdict: Verdict) -> dict[str, Bucket]:
    """Say what became of each part of a task's tests; of one that was not run, what of the whole.

    A part without any tests has nothing that could fail.
    """
    if not isinstance(task.tests, ReferenceCases):
        return {}
    found = {}
    for name, count in task.tests.groups.items():
        tests = [test for test in verdict.tests if test.group == name]
        found[name] = decide(tests).bucket if tests else verdict.bucket
        if not count and verdict.tests:
            found[name] = Bucket.PASSED
    return found


def receipt_of(
    *,
    task: Task,
    completion: Completion,
    extraction: Extraction | NoCode,
    program: Program | None,
    judgement: Judgement,
    enforcement: Enforcement,
    toolchain: str | None = None,
    host: str | None = None,
) -> Receipt:
    """Write down everything about one sample; it was judged here if nobody says where."""
    verdict = judgement.verdict
    shown = judgement.findings.shown
    code = extraction.code if isinstance(extraction, Extraction) else ""
    return Receipt(
        task_id=task.task_id,
        sample=completion.sample,
        outcome=outcome_of(verdict),
        bucket=verdict.bucket,
        detail=verdict.detail,
        score=verdict.score,
        tests=verdict.tests,
        groups=groups_of(task, verdict),
        labels=labels_of(task),
        judged=judgement.judged,
        notes=sorted(judgement.findings.notes & NOTES),
        sandbox=enforcement.tier,
        isolated=enforcement.isolated,
        clock=judgement.findings.clock,
        language=task.language,
        toolchain=enforcement.toolchains.get(task.language, "") if toolchain is None else toolchain,
        limits=judgement.limits or task.limits,
        extraction=how(extraction),
        code=code,
        stop=completion.stop,
        completion_sha256=completion.sha256,
        program_sha256=None if program is None else program.sha256,
        task_sha256=task.sha256,
        usage=judgement.findings.usage,
        stdout=shown.stdout[:MAX_OUTPUT].decode("utf-8", "replace"),
        stderr=shown.stderr[:MAX_OUTPUT].decode("utf-8", "replace"),
        truncated=max(len(shown.stdout), len(shown.stderr)) > MAX_OUTPUT,
        attempts=judgement.attempts,
        host=host or socket.gethostname(),
    )


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides what a run finds out; two runs with one digest may be one run."""

    benchmark: str
    benchmark_sha256: str
    source: str
    tasks: int
    samples: int
    """How many samples the run has when it is complete."""
    completions_sha256: str | None
    """Digest of all of them in order, if they were there before: a file may change."""
    prompts_sha256: str | None = None
    """Digest of all prompts in order, if a model is asked."""
    model: str
    sampling: Sampling
    weights_sha256: str | None = None
    """Of names, sizes and parts of the model's files, if they are at hand."""
    strategy: str = "standard"
    limits: Limits | None
    """Limits that replace the tasks' own, if any."""
    compare: str | None
    early_stop: bool
    max_tests: int | None
    extract: str
    preamble: str
    reuse: bool
    enforcement: Enforcement
    versions: Mapping[str, str]
    created: str
    host: str
    schema: int = SCHEMA

    def differs(self, other: "Manifest") -> "Mismatch | None":
        """Return the first field in which another run is not this one, if there is any."""
        return mismatch(self.identity(), other.identity())

    def identity(self) -> dict[str, Any]:
        """Return everything but the circumstances, as it comes out of a file."""
        fields = msgspec.json.decode(encode(self))
        return {name: value for name, value in fields.items() if name not in CIRCUMSTANCES}

    @property
    def sha256(self) -> str:
        """Digest of everything but the circumstances."""
        return hashlib.sha256(encode(dict(sorted(self.identity().items())))).hexdigest()


class Mismatch(NamedTuple):
    """A field, as in `enforcement.tier`, that two manifests have different values for."""

    field: str
    ours: Any
    theirs: Any


def mismatch(ours: Any, theirs: Any, field: str = "") -> Mismatch | None:
    """Return the first field in which two manifests differ, if there is any."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return None if ours == theirs else Mismatch(field, ours, theirs)
    # a digest differs, too, if something else does that says more
    for name in sorted({**ours, **theirs}, key=lambda name: name.endswith("sha256")):
        path = f"{field}.{name}" if field else name
        found = mismatch(ours.get(name), theirs.get(name), path)
        if found is not None:
            return found
    return None


def versions() -> dict[str, str]:
    """Return the versions of what runs the run."""
    return {
        "proctor": metadata.version("proctor"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
