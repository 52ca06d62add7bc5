"""A few receipts as text: as many kinds as there are, and nothing that steers a terminal."""

from collections.abc import Callable
from pathlib import Path

from proctor.records.encoding import encode
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket
from proctor.report.receipts import MAX_LINES, render

Make = Callable[..., Receipt]


def shown(folder: Path, count: int, *receipts: Receipt) -> list[str]:
    (folder / "receipts.jsonl").write_bytes(b"".join(encode(one) + b"\n" for one in receipts))
    return render(folder, count).splitlines()


def heads(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("  ") and not line.startswith("   ")]


def test_different_ones_first(tmp_path: Path, receipt: Make) -> None:
    buckets = [Bucket.PASSED, Bucket.PASSED, Bucket.PASSED, Bucket.SYNTAX, Bucket.HARNESS]
    receipts = [receipt(sample, bucket) for sample, bucket in enumerate(buckets)]
    assert heads(shown(tmp_path, 3, *receipts)) == [
        "  a #0: pass (passed)",
        "  a #3: syntax_error (syntax)",
        "  a #4: unscored (harness)",
    ]
    assert len(heads(shown(tmp_path, 5, *receipts))) == 5
    assert len(heads(shown(tmp_path, 9, *receipts))) == 5


def test_hostile_code_is_shown_harmlessly_and_not_for_ever(tmp_path: Path, receipt: Make) -> None:
    evil = "\n".join(f"x = '\x1b[2J' # {n}" for n in range(100)) + "\n" + "y" * 10_000
    lines = shown(tmp_path, 1, receipt(code=evil, detail="\x9b2J" * 500))
    assert all(line.isprintable() and len(line) < 120 for line in lines)
    assert len(lines) == MAX_LINES + 4
    assert lines[-1] == f"    | … {101 - MAX_LINES} more lines"
