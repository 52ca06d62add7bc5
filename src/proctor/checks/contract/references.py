"""Lines about reference solutions: they pass, give the same result twice, and are fast enough."""

from typing import NamedTuple

from proctor.checks.contract.evidence import Contract, Evidence, is_our_failure
from proctor.checks.contract.result import Status
from proctor.records.receipt import Receipt
from proctor.records.task import CallCases, StdinCases, Task
from proctor.records.verdict import Bucket

MAX_SHARE, WARNING_SHARE = 0.5, 0.25
"""Share of its time limit that a reference may use; above `WARNING_SHARE` is a warning."""


def references(exam: Contract) -> Evidence:
    """Run every reference twice; each must pass at least once."""
    bad: dict[str, str] = {}
    unscored: dict[str, str] = {}
    for task_id in exam.benchmark.ids:
        receipts = exam.references.get(task_id, [])
        failed = [one for one in receipts if one.bucket is not Bucket.PASSED]
        if not receipts:
            bad[task_id] = "it has no reference, so nothing shows that its tests can be passed"
        elif any(is_our_failure(one) for one in failed):
            unscored[task_id] = failed[0].detail
        elif len(failed) == len(receipts):
            bad[task_id] = f"its reference fails: {describe_answers(failed[0])}"
    good = f"{len(exam.right)} references pass"
    return exam.evidence_for("references", bad, unscored=unscored, good=good)


def stable(exam: Contract) -> Evidence:
    """Compare the results of both runs of every reference."""
    bad: dict[str, str] = {}
    unscored: dict[str, str] = {}
    for task_id, receipts in exam.references.items():
        first, second = receipts[0], receipts[-1]
        if any(map(is_our_failure, receipts)):
            unscored[task_id] = next(one.detail for one in receipts if is_our_failure(one))
        elif are_equivalent(first) != are_equivalent(second):
            bad[task_id] = (
                f"its reference flakes: {describe_answers(first)}, then {describe_answers(second)}"
            )
    if not exam.references:
        return Evidence(Status.UNKNOWN, "there are no references to run twice")
    good = f"{len(exam.references)} references came out alike twice"
    return exam.evidence_for("stable", bad, unscored=unscored, good=good)


def are_equivalent(receipt: Receipt) -> tuple[Bucket, list[tuple[int, bool]]]:
    """Return the part of a receipt that must be equal for every run of a program."""
    return receipt.bucket, [(test.index, test.passed) for test in receipt.tests]


def describe_answers(receipt: Receipt) -> str:
    """Summarize the verdict on a sample."""
    detail = receipt.detail.partition("\n")[0][:200]
    return f"{receipt.bucket} ({detail})" if detail else str(receipt.bucket)


def time(exam: Contract) -> Evidence:
    """Compare the faster run of every reference with its time limit.

    High wall time alone is only a warning: the machine may have been busy.
    """
    taken = {
        task_id: min(Share.of(task, one) for one in exam.references[task_id])
        for task_id, task in exam.right.items()
    }
    if not taken:
        return Evidence(Status.UNKNOWN, "no reference passes, so none can be timed")
    bad = {
        task_id: f"its reference takes {share}"
        for task_id, share in taken.items()
        if share.cpu > MAX_SHARE
    }
    slowest = max(taken, key=taken.__getitem__)
    good = f"the slowest is {slowest}: {taken[slowest]}"
    found = exam.evidence_for("time", bad, unscored={}, good=good)
    if (
        found.word is Status.HELD
        and slowest not in bad
        and taken[slowest].max_share > WARNING_SHARE
    ):
        return found._replace(word=Status.WARNING)
    return found


class Share(NamedTuple):
    """The share of its time limits that a reference used."""

    max_share: float
    """Of wall time or CPU time, whichever is larger."""
    cpu: float
    limit: float

    @classmethod
    def of(cls, task: Task, receipt: Receipt) -> "Share":
        """Take the longest case if the limit applies to each case, else the whole run."""
        limits, usage = receipt.limits, receipt.usage
        cpu, wall = usage.cpu_seconds, usage.wall_seconds
        if isinstance(task.tests, CallCases | StdinCases):
            cases = [test.seconds for test in receipt.tests if test.seconds is not None]
            wall = max(cases) if cases else wall / max(1, len(receipt.tests))
            cpu = min(cpu, wall)
        parts = (cpu / limits.cpu_seconds, wall / limits.wall_seconds)
        return cls(max(parts), parts[0], limits.wall_seconds)

    def __str__(self) -> str:
        return f"{self.max_share:.0%} ({self.cpu:.0%} by the processor's clock) of {self.limit:g} s"
