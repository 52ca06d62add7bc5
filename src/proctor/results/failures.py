"""Cluster the failures of a run by bucket, exception and message."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS, read_manifest

EXAMPLES = 3
MAX_CLUSTERS = 20_000
"""Further kinds of failures are counted in one cluster for each bucket."""
MAX_MESSAGE = 160
EXCEPTION = re.compile(
    r"\b([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration|Group|Expired))\b"
)
PARTICULARS = (
    (re.compile(r"0x[0-9a-fA-F]+"), "@…"),
    (re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""), "'…'"),
    (re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?"), "#"),
    (re.compile(r"\[(?!Errno)[^\]]*\]|\{[^}]*\}"), "[…]"),
    (re.compile(r"\s+"), " "),
)
"""Parts of messages that differ between failures of one kind: addresses, texts, numbers, lists."""


class Tried(msgspec.Struct, frozen=True):
    """The fields of a test result that are read here."""

    passed: bool
    got: str | None = None


class PartialReceipt(msgspec.Struct, frozen=True):
    """The fields of a receipt that are read here."""

    task_id: str
    sample: int
    bucket: Bucket
    detail: str
    tests: Sequence[Tried] = ()

    @property
    def gives_nothing(self) -> bool:
        """Whether the first answer that was wrong is None: a `return` forgotten, or a stub."""
        first = next((test for test in self.tests if not test.passed), None)
        return first is not None and first.got == "None"


class Example(msgspec.Struct, frozen=True):
    """One failure of many."""

    task_id: str
    sample: int
    detail: str


class Cluster(msgspec.Struct, kw_only=True):
    """Failures of one kind."""

    outcome: Outcome | None
    """None: the samples are unscored, which is no failure of theirs."""
    bucket: Bucket
    exception: str | None
    message: str
    """What they all say, particulars left out."""
    samples: int = 0
    tasks: int = 0
    examples: list[Example] = []


class Failures(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in a run that did not pass."""

    benchmark: str
    model: str
    samples: int
    """All samples of the run that have a receipt."""
    failed: int
    unscored: int
    clusters: Sequence[Cluster]
    """The largest first."""
    run_dir: str
    schema: int = 1


def find_failures(run_dir: Path) -> Failures:
    """Read a run's receipts and cluster the failures."""
    manifest = read_manifest(run_dir)
    clusters: dict[tuple[Bucket, str | None, str], Cluster] = {}
    tasks: dict[int, set[str]] = {}
    samples = failed = unscored = 0
    for receipt in read_journal(
        run_dir / RECEIPTS, PartialReceipt, lambda _, n: n < manifest.samples
    ):
        samples += 1
        outcome = OUTCOMES[receipt.bucket]
        failed += outcome not in (None, Outcome.PASS)
        unscored += outcome is None
        if outcome is Outcome.PASS:
            continue
        cluster = _cluster_for(clusters, receipt)
        cluster.samples += 1
        tasks.setdefault(id(cluster), set()).add(receipt.task_id)
        if len(cluster.examples) < EXAMPLES and all(
            one.task_id != receipt.task_id for one in cluster.examples
        ):
            cluster.examples.append(Example(receipt.task_id, receipt.sample, receipt.detail))
    for cluster in clusters.values():
        cluster.tasks = len(tasks[id(cluster)])
    return Failures(
        benchmark=manifest.benchmark,
        model=manifest.model,
        samples=samples,
        failed=failed,
        unscored=unscored,
        clusters=sorted(clusters.values(), key=_order),
        run_dir=str(run_dir),
    )


def _order(cluster: Cluster) -> tuple[int, str, str, str]:
    return -cluster.samples, cluster.bucket, cluster.exception or "", cluster.message


def _cluster_for(
    clusters: dict[tuple[Bucket, str | None, str], Cluster], receipt: PartialReceipt
) -> Cluster:
    exception, message = failure_kind(receipt.detail)
    if receipt.bucket is Bucket.WRONG_ANSWER and receipt.gives_nothing:
        message += " (None)"
    key = (receipt.bucket, exception, message)
    if key not in clusters and len(clusters) >= MAX_CLUSTERS:
        key = (receipt.bucket, None, "(of many other kinds)")
    if key not in clusters:
        clusters[key] = Cluster(
            outcome=OUTCOMES[receipt.bucket],
            bucket=receipt.bucket,
            exception=key[1],
            message=key[2],
        )
    return clusters[key]


def failure_kind(detail: str) -> tuple[str | None, str]:
    """Return the exception that a detail names, if any, and its message without particulars."""
    text = detail[: 4 * MAX_MESSAGE]
    found = EXCEPTION.search(text)
    for pattern, instead in PARTICULARS:
        text = pattern.sub(instead, text)
    return found[1] if found else None, text.strip()[:MAX_MESSAGE]
