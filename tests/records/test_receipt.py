"""A receipt holds the evidence of one sample, a manifest all that decides a run."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from proctor.grading.prepare import PreparedSample
from proctor.grading.receipts import (
    MAX_OUTPUT,
    build_receipt,
    extraction_fields,
    groups_of,
    software_versions,
)
from proctor.judge.conversation import Findings
from proctor.judge.judgement import Judgement
from proctor.records.completion import Completion, Sampling
from proctor.records.encoding import encode
from proctor.records.execution import Enforcement, Execution, Exited, Usage
from proctor.records.extraction import Extraction, NoCode
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.receipt import CIRCUMSTANCES, Manifest, Receipt
from proctor.records.task import Assertions, ReferenceCases, Task
from proctor.records.verdict import Bucket, Failed, Outcome, Passed, Unscored
from proctor.records.verdict import TestResult as Result

FIELDS = """
task_id sample outcome bucket detail score tests judged sandbox clock language toolchain limits
extraction code completion_sha256 program_sha256 task_sha256 usage stdout stderr truncated
reused_from attempts host schema
"""
TASK = Task(task_id="a", tests=Assertions(targets=["f(1) == 2"]), limits=Limits(open_files=7))
HERE = Enforcement(
    tier="kernel", isolated=True, walls={}, clock="schedstat", toolchains={"python": "python 3"}
)
JUDGED_HERE = Judgement(verdict=Passed(), host="here", toolchain="python 3")


def receipt(**given: Any) -> Receipt:
    said = Completion(task_id="a", sample=3, id="0_s3", completion="```x```")
    usual = {
        "task": TASK,
        "completion": said,
        "extraction": Extraction(code="x", rule="fence"),
        "program": Program(source="x"),
        "judgement": JUDGED_HERE,
        "enforcement": HERE,
    }
    usual |= given
    judgement, enforcement = usual.pop("judgement"), usual.pop("enforcement")
    return build_receipt(PreparedSample(**usual), judgement, enforcement)


def test_a_receipt_has_every_field_of_the_contract() -> None:
    assert set(FIELDS.split()) <= set(json.loads(encode(receipt())))


def test_a_receipt_can_be_read_again() -> None:
    text = encode(receipt())
    again = encode(msgspec.json.decode(text, type=Receipt))
    assert json.loads(again) == json.loads(text)


def test_a_receipt_says_what_was_run_and_how() -> None:
    one = receipt()
    assert (one.task_id, one.sample, one.code) == ("a", 3, "x")
    assert (one.sandbox, one.isolated, one.toolchain) == ("kernel", True, "python 3")
    assert one.limits.open_files == 7
    assert one.program_sha256 == Program(source="x").sha256
    assert one.task_sha256 == TASK.sha256
    assert one.extraction == {"rule": "fence"}


@pytest.mark.parametrize(
    ("verdict", "outcome", "score", "detail"),
    [
        (Passed(), Outcome.PASS, 1.0, ""),
        (Failed(bucket=Bucket.SYNTAX, detail="no"), Outcome.SYNTAX_ERROR, 0.0, "no"),
        (
            Failed(bucket=Bucket.WRONG_ANSWER, score=0.5, tests=[Result(index=0, passed=False)]),
            Outcome.ASSERTION_FAIL,
            0.5,
            "",
        ),
        (Unscored(reason="ours"), None, None, "ours"),
    ],
)
def test_a_verdict_is_written_down(verdict: Any, outcome: Any, score: Any, detail: str) -> None:
    one = receipt(judgement=Judgement(verdict=verdict, judged="together", attempts=2))
    assert (one.outcome, one.bucket, one.score, one.detail) == (
        outcome,
        verdict.bucket,
        score,
        detail,
    )
    assert one.tests == verdict.tests
    assert (one.judged, one.attempts) == ("together", 2)


def test_output_is_bounded_and_says_so() -> None:
    used = Usage(cpu_seconds=1.5, wall_seconds=2.5, memory_bytes=10)
    long = Execution(ending=Exited(0), stdout=b"x" * 9000, stderr=b"\xff", usage=used)
    one = receipt(
        judgement=Judgement(verdict=Passed(), findings=Findings(tests=(), executions=[long]))
    )
    assert (len(one.stdout), one.stderr, one.truncated) == (MAX_OUTPUT, "\ufffd", True)
    assert one.usage == used
    short = msgspec.structs.replace(long, stdout=b"x" * MAX_OUTPUT)
    one = receipt(
        judgement=Judgement(verdict=Passed(), findings=Findings(tests=(), executions=[short]))
    )
    assert not one.truncated


def test_no_code_has_a_reason_and_no_program() -> None:
    none = NoCode(reason="the answer is empty")
    assert extraction_fields(none) == {"rule": "none", "reason": "the answer is empty"}
    one = receipt(extraction=none, program=None)
    assert (one.code, one.program_sha256) == ("", None)


Make = Callable[..., Manifest]


def test_circumstances_do_not_make_another_run(manifest: Make) -> None:
    other = manifest(**dict.fromkeys(CIRCUMSTANCES, "other"))
    assert manifest().differs(other) is None
    assert manifest().sha256 == other.sha256


@pytest.mark.parametrize(
    ("changes", "field", "ours", "theirs"),
    [
        ({"benchmark": "other"}, "benchmark", "demo", "other"),
        ({"completions_sha256": "22"}, "completions_sha256", "11", "22"),
        ({"sampling": Sampling(seed=4)}, "sampling.seed", 0, 4),
        ({"limits": Limits()}, "limits", None, msgspec.to_builtins(Limits())),
        ({"versions": {}}, "versions.proctor", "0", None),
        ({"versions": {"proctor": "0", "x": "1"}}, "versions.x", None, "1"),
    ],
)
def test_everything_else_does(
    manifest: Make, changes: dict[str, Any], field: str, ours: Any, theirs: Any
) -> None:
    other = manifest(**changes)
    assert manifest().differs(other) == (field, ours, theirs)
    assert manifest().sha256 != other.sha256


def test_a_manifest_can_be_read_again(manifest: Make) -> None:
    again = msgspec.json.decode(encode(manifest()), type=Manifest)
    assert manifest().differs(again) is None
    assert again.sha256 == manifest().sha256


def test_versions_of_what_runs_the_run() -> None:
    assert set(software_versions()) == {"proctor", "python", "system"}


def test_every_part_of_the_tests_has_its_bucket() -> None:
    tests = ReferenceCases(fn_name="f", inputs=[[1], [2]], groups={"base": 1, "plus": 1, "no": 0})
    task = Task(task_id="t", entry_point="f", tests=tests)
    right = Result(index=0, passed=True, group="base")
    wrong = Result(index=1, passed=False, bucket=Bucket.CPU_TIME, group="plus")
    assert groups_of(task, Failed(bucket=Bucket.CPU_TIME, tests=[right, wrong])) == {
        "base": Bucket.PASSED,
        "plus": Bucket.CPU_TIME,
        "no": Bucket.PASSED,
    }
    for verdict in (Failed(bucket=Bucket.NO_CODE), Unscored(reason="ours")):
        assert set(groups_of(task, verdict).values()) == {verdict.bucket}
    other = Task(task_id="t", entry_point="f", tests=Assertions(targets=["f(1)"]))
    assert groups_of(other, Passed(tests=[right])) == {}
