"""What a benchmark must prove before anybody relies on it: the lines of its contract.

A line is a sentence that holds or does not, one small function that looks, and one sentence of
evidence. Lines ask a `Contract` for what they need, so that references are run once for all of
them. What the benchmark itself lists as wrong (`Declaration.known`) is named and does not count.

    rows         schema, tasks, ids, order, difficulty
    references   references, stable, time
    rejection    empty, wrong, lazy
    extraction   fences, wrappers, braces
    leaks        hidden
    scoring      pass@k, reuse, folders

A result says when, where and on what it was found (`result.py`); `result_store.py` keeps it.
A watcher calls `latest_result(benchmark)` before a run, a gate before a release.
"""

import socket
import time as clock
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from proctor.checks.contract import extraction, leaks, references, rejection, rows, scoring
from proctor.checks.contract.evidence import Contract, Evidence
from proctor.checks.contract.result import NOT_PROVEN, Finding, Result, Status, reason_of
from proctor.errors import InputError
from proctor.grading.receipts import software_versions
from proctor.storage.jsonl import file_sha256


class Line(NamedTuple):
    """One line of the contract."""

    says: str
    look: Callable[[Contract], Evidence]
    of_rows: bool = False
    """Whether it can be looked at though the tasks cannot be used."""


LINES = {
    "schema": Line("every row is a task that can be judged", rows.schema, of_rows=True),
    "tasks": Line("there are tasks", rows.tasks, of_rows=True),
    "ids": Line("no two tasks have one id", rows.ids, of_rows=True),
    "order": Line("tasks have one order and one sha256 in every process", rows.order),
    "difficulty": Line("difficulties are within the declared bands", rows.difficulty),
    "references": Line("every reference passes", references.references),
    "stable": Line("every reference comes out alike twice", references.stable),
    "time": Line("no reference takes more than half of its time", references.time),
    "empty": Line("an empty answer is no code", rejection.empty),
    "wrong": Line("wrong solutions are rejected as they should be", rejection.wrong),
    "lazy": Line("stubs, constants, echoes and the bare prompt are rejected", rejection.lazy),
    "fences": Line("the reference is found between fences", extraction.fences),
    "wrappers": Line("the reference is found in calls of tools and tags", extraction.wrappers),
    "braces": Line("the end of a body is found by its braces", extraction.braces),
    "hidden": Line("no test, expected value or reference can be read", leaks.hidden),
    "pass@k": Line("pass@k is exact", scoring.pass_at),
    "reuse": Line("equal draws have equal receipts, run again or not", scoring.reuse),
    "folders": Line("runs and checkpoints of one last name never mix", scoring.folders),
}


def inspect_rows(exam: Contract, name: str) -> Finding:
    """Look at one line."""
    line = LINES[name]
    if not line.of_rows and not exam.facts.is_fit:
        found = Evidence(Status.UNKNOWN, "its tasks cannot be read")
    else:
        try:
            found = line.look(exam)
        except InputError as error:  # of the benchmark: it was found and read before
            found = Evidence(Status.BROKEN, str(error))
    return Finding(
        line=name,
        says=line.says,
        word=found.word,
        evidence=found.evidence,
        tasks=list(found.tasks),
        known=found.known,
    )


def examine(
    exam: Contract,
    lines: Iterable[str] = tuple(LINES),
    begin: Callable[[str], None] = lambda _: None,
) -> Result:
    """Look at all lines; `begin` hears which one is next."""
    started = clock.monotonic()
    findings = []
    for name in lines:
        begin(name)
        findings.append(inspect_rows(exam, name))
    fit, subject = exam.facts.is_fit, exam.subject
    partial = fit and len(exam.benchmark.tasks) < len(exam.whole.tasks)
    partial = partial or {one.line for one in findings} != set(LINES)
    reason = reason_of(findings, partial=partial)
    return Result(
        benchmark=exam.whole.name if fit else subject.source.name,
        benchmark_sha256=exam.whole.sha256 if fit else None,
        files={str(path): file_sha256(path) for path in subject.paths},
        tasks=len(exam.benchmark.tasks) if fit else 0,
        of=len(exam.whole.tasks) if fit else exam.facts.rows,
        holds=not any(one.word in NOT_PROVEN for one in findings),
        partial=partial,
        in_rotation=not reason,
        reason=reason,
        findings=findings,
        declares=subject.declares,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
        enforcement=exam.sandbox.enforcement(),
        versions=software_versions(),
        seconds=round(clock.monotonic() - started, 3),
    )
