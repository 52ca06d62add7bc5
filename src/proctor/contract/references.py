"""Lines about reference solutions: they pass, always alike, and in time."""

from proctor.contract.examination import Examination, Found, is_ours
from proctor.contract.result import Word
from proctor.receipt import Receipt
from proctor.task import CallCases, StdinCases, Task
from proctor.verdict import Bucket

MOST_SHARE, MUCH_SHARE = 0.5, 0.25
"""Of its limit that a reference may take; more than `MUCH_SHARE` is a warning."""


def references(exam: Examination) -> Found:
    """Run every reference twice; one that never passes is wrong, or its tests are."""
    bad: dict[str, str] = {}
    unscored: dict[str, str] = {}
    for task_id in exam.benchmark.ids:
        receipts = exam.references.get(task_id, [])
        failed = [one for one in receipts if one.bucket is not Bucket.PASSED]
        if not receipts:
            bad[task_id] = "it has no reference, so nothing shows that its tests can be passed"
        elif any(is_ours(one) for one in failed):
            unscored[task_id] = failed[0].detail
        elif len(failed) == len(receipts):
            bad[task_id] = f"its reference fails: {said(failed[0])}"
    good = f"{len(exam.references)} references pass"
    return exam.told("references", bad, unscored=unscored, good=good)


def stable(exam: Examination) -> Found:
    """Compare what came of both runs of every reference."""
    bad = {}
    for task_id, receipts in exam.references.items():
        first, second = receipts[0], receipts[-1]
        if not any(map(is_ours, receipts)) and alike(first) != alike(second):
            bad[task_id] = f"its reference flakes: {said(first)}, then {said(second)}"
    if not exam.references:
        return Found(Word.UNKNOWN, "there are no references to run twice")
    good = f"{len(exam.references)} references came out alike twice"
    return exam.told("stable", bad, unscored={}, good=good)


def alike(receipt: Receipt) -> tuple[Bucket, list[tuple[int, bool]]]:
    """Return what must be the same of one program whenever it is run."""
    return receipt.bucket, [(test.index, test.passed) for test in receipt.tests]


def said(receipt: Receipt) -> str:
    """Say in a few words what became of a sample."""
    detail = receipt.detail.partition("\n")[0][:200]
    return f"{receipt.bucket} ({detail})" if detail else str(receipt.bucket)


def time(exam: Examination) -> Found:
    """Hold the quicker run of every reference against the limit."""
    shares = {
        task_id: min(share(task, one) for one in exam.references[task_id])
        for task_id, task in exam.right.items()
    }
    if not shares:
        return Found(Word.UNKNOWN, "no reference passes, so none can be timed")
    bad = {
        task_id: f"its reference takes {part:.0%} of {_limit(exam, task_id):g} s"
        for task_id, part in shares.items()
        if part > MOST_SHARE
    }
    slowest = max(shares, key=shares.__getitem__)
    taken, limit = shares[slowest], _limit(exam, slowest)
    good = f"the slowest is {slowest}: {taken * limit:.3f} s of {limit:g} s ({taken:.0%})"
    found = exam.told("time", bad, unscored={}, good=good)
    if found.word is Word.HELD and MUCH_SHARE < taken <= MOST_SHARE:
        return found._replace(word=Word.WARNING)
    return found


def _limit(exam: Examination, task_id: str) -> float:
    return exam.references[task_id][0].limits.wall_seconds


def share(task: Task, receipt: Receipt) -> float:
    """Return how much of its time a reference took, by the clock that is nearer to its end."""
    limits, usage = receipt.limits, receipt.usage
    if not isinstance(task.tests, CallCases | StdinCases):
        cpu, wall = usage.cpu_seconds, usage.wall_seconds
        return max(cpu / limits.cpu_seconds, wall / limits.wall_seconds)
    cases = [test.seconds for test in receipt.tests if test.seconds is not None]
    longest = max(cases) if cases else usage.wall_seconds / max(1, len(receipt.tests))
    return longest / limits.wall_seconds
