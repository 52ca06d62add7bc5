"""A few receipts for the terminal: what was run, and what became of it."""

from collections.abc import Iterator
from pathlib import Path

from proctor.records.receipt import Receipt
from proctor.report.text import printable
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS

MAX_LINES, MAX_WIDTH = 16, 100


def render(run_dir: Path, count: int) -> str:
    """Return some receipts of a run as text, of as many different buckets as there are."""
    lines = [line for receipt in _choose(run_dir, count) for line in _lines(receipt)]
    return "\n".join(lines) + "\n"


def _choose(run_dir: Path, count: int) -> list[Receipt]:
    firsts: dict[str, Receipt] = {}
    others: list[Receipt] = []
    for receipt in read_journal(run_dir / RECEIPTS, Receipt):
        if receipt.bucket not in firsts:
            firsts[receipt.bucket] = receipt
        elif len(others) < count:
            others.append(receipt)
        if len(firsts) >= count:
            break
    return [*firsts.values(), *others][:count]


def _lines(receipt: Receipt) -> Iterator[str]:
    yield ""
    outcome = "unscored" if receipt.outcome is None else receipt.outcome
    passed = sum(test.passed for test in receipt.tests)
    tests = f", {passed} of {len(receipt.tests)} tests" if receipt.tests else ""
    yield f"  {printable(receipt.task_id)} #{receipt.sample}: {outcome} ({receipt.bucket}){tests}"
    if receipt.detail:
        yield f"    {_cut(receipt.detail)}"
    code = receipt.code.strip("\n").split("\n")
    for line in code[:MAX_LINES]:
        yield f"    | {_cut(line)}".rstrip()
    if len(code) > MAX_LINES:
        yield f"    | … {len(code) - MAX_LINES} more lines"


def _cut(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= MAX_WIDTH else shown[: MAX_WIDTH - 1] + "…"
