"""Compare our verdicts with those that another harness recorded."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, boundary
from proctor.models.recorded import RecordedSamples
from proctor.records.task import Benchmark
from proctor.records.verdict import Bucket, Outcome
from proctor.storage.journal import read_journal
from proctor.storage.jsonl import Line, shorten
from proctor.storage.run_directory import RECEIPTS

FIELDS = (
    "passed",
    "is_solved",
    "correct",
    "accepted",
    "base_status",
    "status",
    "result",
    "outcome",
)
YES = ("pass", "passed", "true", "accepted", "ac", "ok")
NO = ("fail", "false", "error", "timeout", "timed out", "wrong", "assert", "syntax")
MAX_REASON = 1024


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One sample that the two judge differently."""

    task_id: str
    sample: int
    theirs: bool
    their_reason: str
    ours: bool
    bucket: str
    detail: str


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """The table of both verdicts and what lies off its diagonal."""

    samples: int
    both_pass: int
    both_fail: int
    only_theirs: int
    """They passed it, we did not."""
    only_ours: int
    unscored: int
    """Left out: we have no verdict."""
    differences: Sequence[Difference]

    @property
    def rate(self) -> float:
        """The share of samples on which both agree."""
        return (self.both_pass + self.both_fail) / self.samples if self.samples else 0.0


class Recording(msgspec.Struct, frozen=True):
    """The verdict of another harness on one sample."""

    passed: bool
    reason: str


Recordings = dict[tuple[str, int], Recording]


def read_recordings(against: str, samples: RecordedSamples, benchmark: Benchmark) -> Recordings:
    """Read recorded verdicts from a field of the samples file, or from a separate file.

    Rows of a file of verdicts belong to a task's samples in order, or by their field `sample`.
    """
    path = Path(against)
    with boundary(InputError, f"--against {shorten(against)}"):
        if not path.is_file():
            return _by_sample(samples, benchmark, against)
    verdicts = _by_sample(RecordedSamples(path), benchmark, None)
    for task_id, number in _numbered(samples, benchmark):
        if (task_id, number) not in verdicts:
            raise InputError(f"--against {path}: no verdict on sample {number} of {task_id}")
    return verdicts


def _by_sample(source: RecordedSamples, benchmark: Benchmark, field: str | None) -> Recordings:
    verdicts: Recordings = {}
    counts: Counter[str] = Counter()
    for sample in source.samples(benchmark):
        number = counts[sample.task_id]
        counts[sample.task_id] += 1
        said = sample.row.get("sample")
        if field is None and type(said) is int:
            number = said
        if (sample.task_id, number) in verdicts:
            raise sample.line.error(f"field sample: {number} of {sample.task_id} has a verdict")
        verdicts[sample.task_id, number] = _recording(sample.line, sample.row, field)
    return verdicts


def _numbered(samples: RecordedSamples, benchmark: Benchmark) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for sample in samples.samples(benchmark):
        yield sample.task_id, counts[sample.task_id]
        counts[sample.task_id] += 1


def _recording(line: Line, row: dict[str, Any], field: str | None) -> Recording:
    name = field or next((name for name in FIELDS if name in row), None)
    if name is None:
        raise line.error(f"none of the fields {', '.join(FIELDS)} is there")
    if name not in row:
        raise line.error(f"field {name}, which --against names, is missing, and it is no file")
    said = row[name]
    reason = str(row.get("result", said))[:MAX_REASON]
    if isinstance(said, bool):
        return Recording(said, reason)
    if isinstance(said, str):
        word = said.strip().lower()
        if word in YES:
            return Recording(True, reason)
        if word.startswith(NO):
            return Recording(False, reason)
    raise line.error(f"field {name}: {shorten(said)} is not a verdict")


def compare_with_recordings(run_dir: Path, verdicts: Recordings) -> Agreement:
    """Compare a run's receipts with recorded verdicts."""
    table: Counter[tuple[bool, bool]] = Counter()
    unscored = 0
    differences: list[Difference] = []
    for receipt in read_journal(run_dir / RECEIPTS, _PartialReceipt, lambda *key: key in verdicts):
        if receipt.outcome is None:
            unscored += 1
            continue
        theirs = verdicts[receipt.task_id, receipt.sample]
        ours = receipt.outcome is Outcome.PASS
        table[theirs.passed, ours] += 1
        if theirs.passed is not ours:
            differences.append(_difference(receipt, theirs, ours=ours))
    return Agreement(
        samples=table.total(),
        both_pass=table[True, True],
        both_fail=table[False, False],
        only_theirs=table[True, False],
        only_ours=table[False, True],
        unscored=unscored,
        differences=sorted(differences, key=lambda one: (one.task_id, one.sample)),
    )


class _PartialReceipt(msgspec.Struct, frozen=True):
    """The fields of a receipt that are read here."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    detail: str


def _difference(receipt: _PartialReceipt, theirs: Recording, *, ours: bool) -> Difference:
    return Difference(
        task_id=receipt.task_id,
        sample=receipt.sample,
        theirs=theirs.passed,
        their_reason=theirs.reason,
        ours=ours,
        bucket=receipt.bucket,
        detail=receipt.detail,
    )


def agreement_lines(agreement: Agreement, show: int) -> Iterable[str]:
    """Return the table and the first differences as text."""
    yield f"agreement {100 * agreement.rate:.2f} % of {agreement.samples} samples"
    yield "                 they pass   they fail"
    yield f"  we pass     {agreement.both_pass:>12}{agreement.only_ours:>12}"
    yield f"  we fail     {agreement.only_theirs:>12}{agreement.both_fail:>12}"
    if agreement.unscored:
        yield f"  unscored    {agreement.unscored:>12}"
    for one in agreement.differences[:show]:
        word = {True: "pass", False: "fail"}
        yield f"  {one.task_id} sample {one.sample}"
        yield f"    they: {word[one.theirs]}  {one.their_reason}"
        yield f"    we:   {word[one.ours]}  {one.bucket}  {one.detail}"
