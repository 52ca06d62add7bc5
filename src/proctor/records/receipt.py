"""All that is needed to dispute a verdict: the receipt of one sample, the manifest of one run."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from proctor.records.completion import Sampling, StopReason
from proctor.records.encoding import encode
from proctor.records.execution import Enforcement, Usage
from proctor.records.limits import Limits
from proctor.records.verdict import Bucket, Outcome, TestResult

SCHEMA = 1
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
        return first_difference(self.identity(), other.identity())

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


def first_difference(ours: Any, theirs: Any, field: str = "") -> Mismatch | None:
    """Return the first field in which two manifests differ, if there is any."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return None if ours == theirs else Mismatch(field, ours, theirs)
    # a digest differs, too, if something else does that says more
    for name in sorted({**ours, **theirs}, key=lambda name: name.endswith("sha256")):
        path = f"{field}.{name}" if field else name
        found = first_difference(ours.get(name), theirs.get(name), path)
        if found is not None:
            return found
    return None
