"""Samples are held against the answers of the reference."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement, Rules
from proctor.judge.reference_answers import NAME, load_answers, store_answers
from proctor.judge.reference_comparison import LONG, is_root, reference_calls
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, CheckFunction, Metadata, ReferenceCases, Task
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.storage.cache import Cache

DOUBLE = "def f(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def _home(alone: Path) -> None:
    """Keep answers where nobody else does."""


def task(reference: str | None, inputs: list[Any], **changes: Any) -> Task:
    seconds = changes.pop("seconds", 2.0)
    metadata = changes.pop("metadata", Metadata())
    return Task(
        task_id="t",
        entry_point="f",
        tests=ReferenceCases(fn_name="f", inputs=inputs, **changes),
        canonical_solution=reference,
        limits=Limits().with_seconds(seconds),
        metadata=metadata,
    )


def judged(sandbox: Sandbox, asked: Task, source: str, **rules: Any) -> Judgement:
    return Judge(sandbox, Rules(**rules)).judge(asked, Program(source=source))


def passed(judgement: Judgement) -> list[bool]:
    return [test.passed for test in judgement.verdict.tests]


def test_the_reference_and_what_gives_the_same(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], ["a"], [[1, (2, {3: {4}})]]])
    for source in (DOUBLE, "f = lambda x: x + x\n"):
        judgement = judged(sandbox, asked, source)
        assert (judgement.verdict.bucket, passed(judgement)) == (Bucket.PASSED, [True] * 3)
        assert judgement.judged == "apart"


def test_a_wrong_answer_says_what_was_expected(sandbox: Sandbox) -> None:
    judgement = judged(sandbox, task(DOUBLE, [[1], [2], [3]]), "def f(x): return x * x\n")
    assert passed(judgement) == [False, True, False]
    first = judgement.verdict.tests[0]
    assert (first.bucket, first.expected, first.got) == (Bucket.WRONG_ANSWER, "2", "1")
    assert judgement.verdict.score == pytest.approx(1 / 3)


def test_arguments_are_fresh_for_every_call(sandbox: Sandbox) -> None:
    reference = "def f(x, y):\n    x.append(0)\n    return len(x) + len(y)\n"
    asked = task(reference, [[[], [1]], [[], [1]], [[1], (2,)]])
    assert passed(judged(sandbox, asked, reference)) == [True] * 3


def test_floats_and_types_are_compared_as_the_profile_says(sandbox: Sandbox) -> None:
    asked = task("def f(x): return (0.3, x)\n", [[10000001]], compare="evalplus")
    assert passed(judged(sandbox, asked, "def f(x): return (0.1 + 0.2, x)\n")) == [True]
    assert passed(judged(sandbox, asked, "def f(x): return (0.3, x - 1)\n")) == [False]
    assert passed(judged(sandbox, asked, "def f(x): return [0.3, x]\n")) == [False]
    exact = judged(sandbox, asked, "def f(x): return (0.1 + 0.2, x)\n", compare="exact")
    assert passed(exact) == [False]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("[3, 1, 2]", True),
        ("(3, 2, 1, 1)", True),
        ("{1, 2, 3}", True),
        ("iter([1, 2, 3])", True),
        ("dict.fromkeys([1, 2, 3])", True),
        ("[1, 2]", False),
        ("[[1], 2, 3]", False),
        ("None", False),
        ("7", False),
        ("'123'", False),
    ],
)
def test_elements_in_any_order(sandbox: Sandbox, answer: str, right: bool) -> None:
    asked = task("def f(): return [1, 2, 3]\n", [[]], accept="elements")
    assert passed(judged(sandbox, asked, f"def f(): return {answer}\n")) == [right]


def test_more_elements_than_may_be_hashed(sandbox: Sandbox) -> None:
    asked = task("def f(): return [1]\n", [[]], accept="elements")
    assert passed(judged(sandbox, asked, "def f(): return [1] * 10000\n")) == [False]


@pytest.mark.parametrize("answer", ["re.search('a', 'a')", "1", "'x'", "True"])
def test_truth_is_found_on_the_candidates_side(sandbox: Sandbox, answer: str) -> None:
    reference = "import re\ndef f(x): return re.search('a', x)\n"
    asked = task(reference, [["a"], ["b"]], accept="truth")
    source = f"import re\ndef f(x): return {answer} if 'a' in x else None\n"
    assert passed(judged(sandbox, asked, source)) == [True, True]
    assert passed(judged(sandbox, asked, f"import re\ndef f(x): return {answer}\n")) == [
        True,
        False,
    ]
    assert passed(judged(sandbox, asked, "def f(x): return []\n")) == [False, True]


def test_any_root_will_do(sandbox: Sandbox) -> None:
    reference = "def f(xs): return 1.0\n"
    asked = task(reference, [[[-1, 0, 1]], [[-1, 0, 0, 1]]], accept="root", tolerance=1e-4)
    assert passed(judged(sandbox, asked, "def f(xs): return -1\n")) == [True, False]
    assert passed(judged(sandbox, asked, "def f(xs): return 1.0000001\n")) == [True, True]
    for wrong in ("True", "'1'", "None", "float('nan')", "float('inf')", "10 ** 400", "[1.0]"):
        assert passed(judged(sandbox, asked, f"def f(xs): return {wrong}\n")) == [False, False]


def test_roots() -> None:
    assert is_root([-6, 11, -6, 1], 3, 0.0)
    assert not is_root([-6, 11, -6, 1], 3.1, 1e-4)
    assert not is_root([1], 1e308, 1e-4)
    assert not is_root([0, 0, 0, 1], 1e308, 1e-4)


def test_other_answers_that_are_right(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], [2]], also={1: 7})
    assert passed(judged(sandbox, asked, "def f(x): return 7\n")) == [False, True]
    assert passed(judged(sandbox, asked, "def f(x): return 2 * x\n")) == [True, True]


def test_parts_of_the_tests(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], [2], [3]], groups={"base": 1, "plus": 2})
    tests = judged(sandbox, asked, "def f(x): return 2 if x == 1 else 1 / 0\n").verdict.tests
    assert [test.group for test in tests] == ["base", "plus", "plus"]
    assert [test.bucket for test in tests][1:] == [Bucket.TEST_EXCEPTION] * 2
    narrowed = judged(sandbox, asked, DOUBLE, max_tests=2).verdict.tests
    assert [test.group for test in narrowed] == ["base", "plus"]
    stopped = judged(sandbox, asked, "def f(x): return 2\n", early_stop=True).verdict
    assert passed(judged(sandbox, asked, "def f(x): return 2\n", early_stop=True)) == [True, False]
    assert stopped.score == pytest.approx(1 / 3)


def test_only_the_longest_inputs(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], ["long"], [2], ["longer"]], also={3: "!"}, groups={"all": 4})
    judgement = judged(sandbox, asked, "def f(x): return '!'\n", max_tests=2)
    assert passed(judgement) == [False, True]


def test_one_call_after_the_other(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], ["x" * LONG]], metadata=Metadata(one_at_a_time=True))
    assert passed(judged(sandbox, asked, DOUBLE)) == [True, True]
    assert passed(judged(sandbox, asked, "def f(x): return 2\n")) == [True, False]
    assert judged(sandbox, asked, "raise ValueError\n").verdict.bucket is Bucket.LOAD_EXCEPTION


@pytest.mark.parametrize(
    ("source", "bucket"),
    [
        ("def f(:\n", Bucket.SYNTAX),
        ("1 / 0\n", Bucket.LOAD_EXCEPTION),
        ("def g(x): return 2 * x\n", Bucket.TEST_EXCEPTION),
        ("def f(x): raise SystemExit\n", Bucket.EARLY_EXIT),
        ("import os\ndef f(x): os._exit(0)\n", Bucket.EARLY_EXIT),
        ("def f(x):\n    while True: pass\n", Bucket.CPU_TIME),
        ("def f(x): return object()\n", Bucket.WRONG_ANSWER),
        (
            "class E:\n    def __eq__(self, o): return True\ndef f(x): return E()\n",
            Bucket.WRONG_ANSWER,
        ),
        ("def f(x): return (i for i in ())\n", Bucket.WRONG_ANSWER),
        ("def f(x): return 'x' * 2 ** 22 * 20\n", Bucket.OUTPUT_OVERFLOW),
    ],
)
def test_what_fails(sandbox: Sandbox, source: str, bucket: Bucket) -> None:
    judgement = judged(sandbox, task(DOUBLE, [[1], [2]], seconds=1.0), source)
    assert judgement.verdict.bucket is bucket
    assert len(judgement.verdict.tests) == 2


def test_time_that_runs_out_costs_all_but_what_was_answered_is_known(sandbox: Sandbox) -> None:
    asked = task(DOUBLE, [[1], [2], [3]], groups={"base": 1, "plus": 2}, seconds=1.0)
    verdict = judged(sandbox, asked, "def f(x):\n    while x > 1: pass\n    return 2\n").verdict
    assert (verdict.bucket, verdict.score) == (Bucket.CPU_TIME, 0.0)
    assert [test.passed for test in verdict.tests] == [True, False, False]


def test_who_is_slow_for_a_reason_gets_more_time(sandbox: Sandbox) -> None:
    slow = "import time\ndef f(x):\n    end = time.process_time() + 0.15\n"
    slow += "    while time.process_time() < end: pass\n    return x\n"
    asked = task(slow, [[1], [2]], patience=4.0, seconds=0.2)
    judgement = judged(sandbox, asked, slow)
    assert judgement.verdict.bucket is Bucket.PASSED
    assert judgement.limits is not None
    assert judgement.limits.wall_seconds >= 4 * 0.3


LONG_INPUTS = [[1], [LONG], [2 * LONG]]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("list(range(n))", [True, True, True]),
        ("[float(i) for i in range(n)]", [True, True, True]),
        ("[i + 1e-9 for i in range(n)]", [False, False, False]),
        ("list(range(n))[::-1]", [True, False, False]),
        ("tuple(range(n))", [False, False, False]),
        ("[*range(n)] if n < 20000 else [0]", [True, True, False]),
        ("[*range(n)] if n != 16384 else 1 / 0", [True, False, True]),
        ("'x' * 2 ** 24 if n > 20000 else [*range(n)]", [True, True, False]),
    ],
)
def test_long_answers(sandbox: Sandbox, answer: str, right: list[bool]) -> None:
    asked = task("def f(n): return list(range(n))\n", LONG_INPUTS, compare="evalplus")
    assert passed(judged(sandbox, asked, f"def f(n): return {answer}\n")) == right


def test_long_floats_have_their_tolerance(sandbox: Sandbox) -> None:
    asked = task("def f(n): return [i / 3 for i in range(n)]\n", LONG_INPUTS, compare="evalplus")
    close = "def f(n): return [i / 3 + 1e-9 for i in range(n)]\n"
    assert passed(judged(sandbox, asked, close)) == [True, True, True]


def test_long_answers_that_cannot_be_looked_at(sandbox: Sandbox) -> None:
    """What is too large to cross is right if its digest is, and wrong if it is not."""
    huge = "def f(n): return 'x' * (n * 2 ** 20)\n"
    asked = task(huge, [[1], [20]])
    assert passed(judged(sandbox, asked, huge)) == [True, True]
    other = judged(sandbox, asked, "def f(n): return ('y' if n > 1 else 'x') * (n * 2 ** 20)\n")
    assert passed(other) == [True, False]
    assert other.verdict.bucket is Bucket.WRONG_ANSWER


def test_looking_closer_has_an_end(sandbox: Sandbox) -> None:
    """Who is slow only when it is asked again gains nothing."""
    source = "import os, time\nasked = 0\ndef f(n):\n    global asked\n    asked += 1\n"
    source += "    time.sleep(0.3 if asked == 1 else 0)\n    return [float(i) for i in range(n)]\n"
    asked = task("def f(n): return list(range(n))\n", [[LONG + n] for n in range(12)], seconds=1.0)
    judgement = judged(sandbox, asked, source)
    assert judgement.verdict.bucket is Bucket.WALL_TIME
    assert judgement.verdict.score == 0.0


def test_a_digest_cannot_be_made_up(sandbox: Sandbox) -> None:
    source = "def f(n): return {'d': '00' * 32}\n"
    asked = task("def f(n): return list(range(n))\n", [[LONG]])
    assert passed(judged(sandbox, asked, source)) == [False]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (None, "no reference solution"),
        ("def f(x): return 1 / (x - 2)\n", "fails on input 1: ZeroDivisionError"),
        ("def f(x): return object()\n", "answers input 0 with an object"),
        ("y = 1 / 0\ndef f(x): return y\n", "fails while it is loaded"),
        ("def f(x): return x\n", "fails the task's own tests: wrong answer"),
    ],
)
def test_a_task_that_cannot_be_judged(sandbox: Sandbox, reference: str, reason: str) -> None:
    asked = task(reference, [[1], [2]], proof=Assertions(targets=["f(1) == 2"]))
    verdict = judged(sandbox, asked, DOUBLE).verdict
    assert verdict.bucket is Bucket.BENCHMARK
    assert reason in verdict.detail


def test_inputs_that_cannot_cross(sandbox: Sandbox) -> None:
    verdict = judged(sandbox, task(DOUBLE, [[object()]]), DOUBLE).verdict
    assert verdict.bucket is Bucket.BENCHMARK
    assert "cannot cross" in verdict.detail


def test_many_large_inputs_are_sent_in_parts() -> None:
    cases = ReferenceCases(fn_name="f", inputs=[[[0] * 400_000] for _ in range(4)])
    assert reference_calls(cases, 0, 4) == reference_calls(cases, 0, 2) + reference_calls(
        cases, 2, 4
    )
    assert reference_calls(cases, 0, 1) != reference_calls(cases, 1, 2)


def test_the_proof_may_be_a_check_function(sandbox: Sandbox) -> None:
    check = CheckFunction(code="def check(candidate):\n    assert candidate(2) == 4\n")
    assert passed(judged(sandbox, task(DOUBLE, [[1]], proof=check), DOUBLE)) == [True]


def counting(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.exists() else []


def test_the_reference_is_asked_once(sandbox: Sandbox, alone: Path) -> None:
    asked = task(DOUBLE, [[1], [2]], proof=Assertions(targets=["f(1) == 2"]))
    place = Cache(NAME).folder
    assert place is not None
    judge = Judge(sandbox)
    threads = [
        threading.Thread(target=judge.judge, args=(asked, Program(source=DOUBLE + f"# {n}")))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (kept,) = counting(place)
    known = load_answers(kept.name)
    assert known is not None
    kept.write_bytes(kept.read_bytes()[:-3])  # what is damaged is found out again
    assert load_answers(kept.name) is None
    assert judged(sandbox, asked, DOUBLE).verdict.bucket is Bucket.PASSED
    assert counting(place) == [kept]
    again = load_answers(kept.name)
    assert again is not None
    assert again.said == known.said
    changed = msgspec.structs.replace(asked, canonical_solution="f = lambda x: x + x\n")
    assert judged(sandbox, changed, DOUBLE).verdict.bucket is Bucket.PASSED
    assert len(counting(place)) == 2


def test_what_was_kept_is_used(sandbox: Sandbox) -> None:
    """Nothing but the kept file can say that 1 doubled is 3."""
    asked = task(DOUBLE, [[1]])
    assert judged(sandbox, asked, DOUBLE).verdict.bucket is Bucket.PASSED
    place = Cache(NAME).folder
    assert place is not None
    (kept,) = counting(place)
    known = load_answers(kept.name)
    assert known is not None
    store_answers(kept.name, known._replace(said=known.said.replace(b'{"v":2}', b'{"v":3}')))
    assert judged(sandbox, asked, DOUBLE).verdict.bucket is Bucket.WRONG_ANSWER
    assert judged(sandbox, asked, "def f(x): return 3\n").verdict.bucket is Bucket.PASSED
