"""Writes down what was found out about a sample."""

import platform
from importlib import metadata

from proctor.grading.prepare import PreparedSample
from proctor.judge.judgement import Judgement
from proctor.records.execution import Enforcement
from proctor.records.extraction import Extraction, NoCode
from proctor.records.limits import KIB
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.records.task import ReferenceCases, Task
from proctor.records.verdict import Bucket, Verdict, decide, outcome_of

MAX_OUTPUT = 8 * KIB
MAX_LABELS, MAX_LABEL = 20, 80
NOTES = frozenset({"asked", "unguarded", "not_linked"})


def build_receipt(
    sample: PreparedSample, judgement: Judgement, enforcement: Enforcement
) -> Receipt:
    """Put everything about one sample into its receipt."""
    task, completion, extraction, program = sample
    verdict, findings = judgement.verdict, judgement.findings
    shown = findings.shown
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
        notes=sorted(findings.notes & NOTES),
        sandbox=enforcement.tier,
        isolated=enforcement.isolated,
        clock=findings.clock,
        language=task.language,
        toolchain=judgement.toolchain,
        limits=judgement.limits or task.limits,
        extraction=extraction_fields(extraction),
        code=extraction.code if isinstance(extraction, Extraction) else "",
        stop=completion.stop,
        completion_sha256=completion.sha256,
        program_sha256=program.sha256 if isinstance(program, Program) else None,
        task_sha256=task.sha256,
        usage=findings.usage,
        stdout=shown.stdout[:MAX_OUTPUT].decode("utf-8", "replace"),
        stderr=shown.stderr[:MAX_OUTPUT].decode("utf-8", "replace"),
        truncated=max(len(shown.stdout), len(shown.stderr)) > MAX_OUTPUT,
        attempts=judgement.attempts,
        host=judgement.host,
    )


def extraction_fields(extraction: Extraction | NoCode) -> dict[str, str]:
    """Return which rule found the code, or why there is none."""
    match extraction:
        case Extraction(rule=rule):
            return {"rule": rule}
        case NoCode(reason=reason):
            return {"rule": "none", "reason": reason}


def labels_of(task: Task) -> list[str]:
    """Return a task's difficulty and tags, by which reports group samples."""
    known = task.metadata
    labels = [f"difficulty:{known.difficulty}"] if known.difficulty else []
    labels += [f"tag:{tag}" for tag in known.tags]
    return [label[:MAX_LABEL] for label in labels[:MAX_LABELS]]


def groups_of(task: Task, verdict: Verdict) -> dict[str, Bucket]:
    """Return a bucket for each group of a task's tests.

    A group that did not run has the bucket of the whole sample; one without tests passes.
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


def software_versions() -> dict[str, str]:
    """Return the versions of what runs the run."""
    return {
        "proctor": metadata.version("proctor"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
