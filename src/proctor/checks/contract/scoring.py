"""Lines about what is made of verdicts: pass@k, equal draws, folders of runs."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import comb, isclose
from pathlib import Path

import msgspec

from proctor.checks.contract.evidence import Contract, Evidence, answer_task, is_our_failure
from proctor.checks.contract.references import are_equivalent
from proctor.checks.contract.result import Status
from proctor.errors import InputError
from proctor.grading.evaluate import Plan, evaluate
from proctor.grading.prepare import Options
from proctor.records.completion import Completion, Sampling
from proctor.records.encoding import encode
from proctor.records.receipt import Receipt
from proctor.records.task import Benchmark
from proctor.records.verdict import Bucket
from proctor.results.pass_at_k import Tally, estimate, pass_at_k
from proctor.results.summary import tally
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS

CASES = tuple(
    (n, c, k)
    for n in (1, 2, 3, 5, 10, 200)
    for c in sorted({0, 1, n // 2, n - 1, n})
    for k in sorted({1, 2, n // 2, n})
    if 1 <= k <= n
)
NONSENSE = ((0, 0, 1), (5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6))
VOLATILE = ("sample", "reused_from", "usage", "attempts")
"""Fields in which the receipts of equal draws differ: which draw, and what it took that time.
The seconds of each test are another; stdout, stderr and all that is a verdict are the same."""


def pass_at(exam: Contract) -> Evidence:
    """Check pass@k by shared cases, and over this benchmark's own references and empty answers."""
    for n, c, k in CASES:
        exact = 1 - Fraction(comb(n - c, k), comb(n, k))
        if not isclose(pass_at_k(n, c, k), exact, abs_tol=1e-12):
            return Evidence(
                Status.BROKEN, f"pass@{k} of {c} in {n} is {pass_at_k(n, c, k)}, not {exact}"
            )
    for n, c, k in NONSENSE:
        try:
            pass_at_k(n, c, k)
        except ValueError:
            continue
        return Evidence(
            Status.BROKEN, f"pass@{k} of {c} in {n} is a number, though it cannot be one"
        )
    if not exam.right:
        return Evidence(Status.HELD, f"{len(CASES)} shared cases; no reference of its own passes")
    tallies = _half_right(exam)
    for k, expected in ((1, 0.5), (2, 1.0)):
        value = estimate(tallies, k).value
        if value != expected:
            return Evidence(
                Status.BROKEN, f"one right answer in two is pass@{k} {value}, not {expected}"
            )
    own = f"{len(tallies)} references beside as many empty answers"
    return Evidence(Status.HELD, f"{len(CASES)} shared cases and {own} give what they should")


def _half_right(exam: Contract) -> list[Tally]:
    """Return what became of one reference and one empty answer to each task."""
    nothing = (answer_task(task, "", 1) for task in exam.right.values())
    counts = {task_id: Counter([exam.references[task_id][0].outcome]) for task_id in exam.right}
    for receipt in exam.grade(exam.benchmark, nothing):
        counts[receipt.task_id][receipt.outcome] += 1
    return [tally(task_id, count) for task_id, count in counts.items()]


def reuse(exam: Contract) -> Evidence:
    """Compare receipts of two equal draws, both run, with those of which the second was not."""
    bad: dict[str, str] = {}
    for task_id in exam.right:
        apart, once = exam.references[task_id], exam.reused.get(task_id, [])
        if any(map(is_our_failure, once)) or [are_equivalent(one) for one in once] != [
            are_equivalent(one) for one in apart
        ]:
            continue  # it flakes, which is another line's business
        for ours, theirs in zip(apart, once, strict=True):
            field = _difference(ours, theirs)
            if field is not None:
                bad[task_id] = f"draw {ours.sample} has another {field} when it is not run again"
        if sorted((one.reused_from is None) for one in once) != [False, True]:
            bad[task_id] = "of two equal draws not one was run, and the other not"
    if not exam.right:
        return Evidence(Status.UNKNOWN, "no reference passes, so there is nothing to draw twice")
    good = f"{len(exam.right)} pairs of equal draws have equal receipts, run or not"
    return exam.evidence_for("reuse", bad, unscored={}, good=good)


def _difference(ours: Receipt, theirs: Receipt) -> str | None:
    """Return a field in which two receipts should agree but do not."""
    one, other = (_stable(receipt) for receipt in (ours, theirs))
    return next((name for name in one if one[name] != other[name]), None)


def _stable(receipt: Receipt) -> dict[str, object]:
    fields = msgspec.json.decode(encode(receipt))
    for test in fields["tests"]:
        test.pop("seconds", None)
    return {name: value for name, value in fields.items() if name not in VOLATILE}


class _Checkpoint:
    """A model that knows all references, or gives one answer to every task."""

    name = "step-1"

    def __init__(self, text: str | None) -> None:
        self._text = text

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        del sampling
        for task in benchmark.tasks:
            text = task.canonical_solution if self._text is None else self._text
            yield answer_task(task, text or "")


def folders(exam: Contract) -> Evidence:
    """Run two checkpoints of one last name into folders of one last name; nothing may mix."""
    first = next(iter(exam.right), None)
    if first is None:
        return Evidence(Status.UNKNOWN, "no reference passes, so two runs could not be told apart")
    one = msgspec.structs.replace(exam.benchmark, tasks=[exam.right[first]])
    with tempfile.TemporaryDirectory(prefix="proctor-contract-") as name:
        trouble = _mixed(exam, one, Path(name))
    if trouble is not None:
        return Evidence(Status.BROKEN, trouble, [first])
    return Evidence(
        Status.HELD,
        "runs of checkpoints a/step-1 and b/step-1 keep their own receipts, and a run does not "
        "go on in the folder of another checkpoint",
    )


def _mixed(exam: Contract, benchmark: Benchmark, place: Path) -> str | None:
    """Say what two runs whose folders have one last name share, nothing if it is nothing."""
    models = {"a": _Checkpoint(None), "b": _Checkpoint("")}
    wanted = {"a": Bucket.PASSED, "b": Bucket.NO_CODE}
    for side, model in models.items():
        _evaluate(exam, benchmark, model, place / side / "step-1")
    for side, bucket in wanted.items():
        receipts = list(read_journal(place / side / "step-1" / RECEIPTS, Receipt))
        if [receipt.bucket for receipt in receipts] != [bucket]:
            got = ", ".join(receipt.bucket for receipt in receipts)
            return f"the receipts of {side}/step-1 are {got or 'missing'}, not {bucket}"
    try:
        _evaluate(exam, benchmark, models["b"], place / "a" / "step-1")
    except InputError:
        return None
    return "a run of b/step-1 went on in the folder of a/step-1"


def _evaluate(exam: Contract, benchmark: Benchmark, model: _Checkpoint, out: Path) -> None:
    evaluate(Plan(benchmark=benchmark, model=model, options=Options(workers=1)), exam.sandbox, out)
