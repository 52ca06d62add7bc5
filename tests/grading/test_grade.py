"""The flow from completion to receipt, on real processes and on a sandbox that fails."""

from collections.abc import Callable
from typing import Any, NoReturn

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.judge.judgement import Rules
from proctor.records.completion import Completion, StopReason
from proctor.records.execution import Enforcement, Execution, SandboxFailed
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, CallCases, Task
from proctor.records.verdict import Bucket, Outcome
from proctor.sandbox import Sandbox

DOUBLE = Task(
    task_id="double",
    prompt="def double(x):\n",
    entry_point="double",
    tests=Assertions(targets=["double(1) == 2", "double(4) == 8"]),
)
RIGHT, WRONG = "    return 2 * x\n", "    return 3 * x\n"


def said(text: str, sample: int = 0, task_id: str = "double", **more: Any) -> Completion:
    return Completion(task_id=task_id, sample=sample, id="", completion=text, **more)


class Broken:
    """A sandbox in which nothing ever starts."""

    def __init__(self) -> None:
        self.tried = 0

    def enforcement(self) -> Enforcement:
        return Enforcement(tier="portable", isolated=False, walls={}, clock="wall", toolchains={})

    def _fail(self, *_: object, **__: object) -> NoReturn:
        self.tried += 1
        raise SandboxError("nothing starts here")

    open = repeat = exchange = session = _fail

    def run(self, *_: object, **__: object) -> Execution:
        return Execution(ending=SandboxFailed("nothing starts here"))

    def close(self) -> None:
        pass


class Counting:
    """A real sandbox that counts how many candidates it was asked for."""

    def __init__(self, real: Sandbox) -> None:
        self._real = real
        self.candidates = 0

    def open(self, role: Any, limits: Any) -> Any:
        self.candidates += role == "candidate"
        return self._real.open(role, limits)

    def exchange(self, requests: Any, limits: Any, role: Any = "candidate") -> Any:
        self.candidates += 1
        return self._real.exchange(requests, limits, role)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_right_and_a_wrong_sample(sandbox: Sandbox, nothing_left: None) -> None:
    grader = Grader(sandbox, Options())
    right, wrong = grader.grade(DOUBLE, said(RIGHT)), grader.grade(DOUBLE, said(WRONG, 1))
    assert (right.outcome, right.score, right.sample) == (Outcome.PASS, 1.0, 0)
    assert (wrong.outcome, wrong.bucket) == (Outcome.ASSERTION_FAIL, Bucket.WRONG_ANSWER)
    assert (wrong.sample, wrong.score, len(wrong.tests)) == (1, 0.0, 2)
    assert wrong.tests[1].expected == "8"
    assert wrong.tests[1].got == "12"
    assert right.sandbox == sandbox.enforcement().tier


def test_no_code_is_an_error_of_the_model(sandbox: Sandbox) -> None:
    receipt = Grader(sandbox, Options()).grade(DOUBLE, said("```python\n", stop=StopReason.LENGTH))
    assert (receipt.outcome, receipt.bucket) == (Outcome.ERROR, Bucket.NO_CODE)
    assert receipt.extraction["rule"] == "none"
    assert (receipt.program_sha256, receipt.code, receipt.score) == (None, "", 0.0)


@pytest.mark.parametrize(
    ("options", "text", "whole", "bucket"),
    [
        (Options(), "```python\ndef double(x): return 2 * x\n```", False, Bucket.PASSED),
        (Options(extract="never"), RIGHT, False, Bucket.PASSED),
        (Options(extract="never"), f"```\n{RIGHT}```", False, Bucket.SYNTAX),
        (Options(), "def double(x): return 2 * x", True, Bucket.PASSED),
        (Options(), "```\ndef double(x): return 2 * x\n```", True, Bucket.SYNTAX),
        (Options(), "def double(x): return math.prod([2, x])", True, Bucket.TEST_EXCEPTION),
        (
            Options(preamble="base"),
            "def double(x): return math.prod([2, x])",
            True,
            Bucket.PASSED,
        ),
    ],
)
def test_how_text_becomes_a_program(
    sandbox: Sandbox, options: Options, text: str, whole: bool, bucket: Bucket
) -> None:
    receipt = Grader(sandbox, options).grade(DOUBLE, said(text, whole=whole))
    assert receipt.bucket is bucket, receipt.detail
    verbatim = whole or options.extract == "never"
    assert (receipt.extraction["rule"] == "verbatim") is verbatim


def test_half_a_surrogate_pair_is_the_models_mistake(sandbox: Sandbox) -> None:
    receipt = Grader(sandbox, Options()).grade(DOUBLE, said("x = '\ud83d", whole=True))
    assert receipt.outcome is Outcome.SYNTAX_ERROR


def test_identical_programs_are_run_once(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    grader = Grader(counting, Options())
    fenced = f"```python\ndef double(x):\n{RIGHT}```"
    texts = [RIGHT, WRONG, RIGHT, f"{RIGHT}", WRONG, fenced, fenced]
    receipts = [grader.grade(DOUBLE, said(text, n)) for n, text in enumerate(texts)]
    assert [one.reused_from for one in receipts] == [None, None, 0, 0, 1, 0, 0]
    assert [one.sample for one in receipts] == list(range(7))
    assert [one.outcome for one in receipts] == [
        Outcome.PASS if "2 * x" in text else Outcome.ASSERTION_FAIL for text in texts
    ]
    assert counting.candidates == 2
    assert receipts[5].program_sha256 == receipts[0].program_sha256
    assert receipts[5].extraction != receipts[0].extraction, "how it was found is its own"
    for text, one in zip(texts, receipts, strict=True):
        assert one.completion_sha256 == said(text).sha256
        assert one.code.strip() in text


def test_no_reuse_runs_them_all(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    grader = Grader(counting, Options(reuse=False))
    receipts = [grader.grade(DOUBLE, said(RIGHT, n)) for n in range(3)]
    assert [one.reused_from for one in receipts] == [None] * 3
    assert counting.candidates == 3


def test_the_same_program_of_another_task_is_run(sandbox: Sandbox) -> None:
    """Also of one that only has the same id."""
    triple = msgspec.structs.replace(DOUBLE, tests=Assertions(targets=["double(1) == 3"]))
    grader = Grader(sandbox, Options())
    assert grader.grade(DOUBLE, said(RIGHT)).outcome is Outcome.PASS
    other = grader.grade(triple, said(RIGHT, 1))
    assert (other.outcome, other.reused_from) == (Outcome.ASSERTION_FAIL, None)


def test_what_fails_on_our_side_is_never_wrong(receipt: Callable[..., Receipt]) -> None:
    broken = Broken()
    grader = Grader(broken, Options())
    for sample in range(3):
        one = grader.grade(DOUBLE, said(RIGHT, sample))
        assert (one.outcome, one.bucket, one.score) == (None, Bucket.HARNESS, None)
        assert one.detail == "nothing starts here"
        assert one.reused_from is None, "an unscored sample says nothing about another"
    assert broken.tried >= 6, "each was tried again and a known-good program, too"


@pytest.mark.parametrize(
    "tests",
    [
        Assertions(targets=["abs(double(1)) == 2"]),
        CallCases(fn_name="double", inputs=[[1]], outputs=[2]),
    ],
)
def test_no_kind_of_test_blames_the_candidate_for_it(tests: Any) -> None:
    task = msgspec.structs.replace(DOUBLE, tests=tests)
    one = Grader(Broken(), Options()).grade(task, said(RIGHT))
    assert (one.outcome, one.bucket) == (None, Bucket.HARNESS)


def test_rules_reach_the_judge(sandbox: Sandbox) -> None:
    stopped = Grader(sandbox, Options(rules=Rules(early_stop=True))).grade(DOUBLE, said(WRONG))
    assert len(stopped.tests) == 1
