"""Tests that are code: the same verdict with and without an examiner, and who is believed."""

import gzip
import json
import random

import pytest

from proctor.judge.assertions import AssertionJudge
from proctor.judge.literal_asserts import reduce_to_cases
from proctor.judge.live_tests import UnfitError, builtin_entry_points
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Assertions, CheckFunction, Metadata, Task
from proctor.records.verdict import Bucket, Failed, Passed


@pytest.fixture(scope="module")
def judge(sandbox):
    return AssertionJudge(sandbox, early_stop=False)


def verdict_of(judge, source, *targets, **kwargs):
    tests = kwargs.pop("tests", None) or Assertions(targets=targets, setup=kwargs.pop("setup", ""))
    task = Task(task_id="t", tests=tests, **{"entry_point": "f", **kwargs})
    return judge.judge(task, Program(source=source))


def outcomes(found):
    return [(test.passed, test.bucket) for test in found.verdict.tests]


def test_results_are_reported_one_by_one_with_what_was_expected(judge):
    found = verdict_of(
        judge,
        "def f(x):\n    if x == 3: raise KeyError(x)\n    return x + 1\n",
        "f(1) == 2",
        "sorted([f(1)]) == [3]",
        "f(3) == 4",
        "assert f(4) == 5",
    )
    assert outcomes(found) == [
        (True, Bucket.PASSED),
        (False, Bucket.WRONG_ANSWER),
        (False, Bucket.TEST_EXCEPTION),
        (True, Bucket.PASSED),
    ]
    wrong, raised = found.verdict.tests[1:3]
    assert (wrong.expected, wrong.got) == ("[3]", "[2]")
    assert raised.detail == "KeyError: 3 (line 2)"
    assert found.verdict.bucket is Bucket.WRONG_ANSWER
    assert found.verdict.score == 0.5


def test_names_that_only_the_solution_defines_are_stand_ins(judge):
    source = (
        "class Node:\n    def __init__(self, value):\n        self.value = value\n"
        "        self.left = self.right = None\n"
        "def f(node):\n    return 0 if node is None else 1 + f(node.left) + f(node.right)\n"
    )
    found = verdict_of(judge, source, "f(root) == 2", setup="root = Node(1)\nroot.left = Node(2)\n")
    assert isinstance(found.verdict, Passed)
    assert found.judged == "apart"


def test_helpers_of_the_prompt_are_the_tests_own(judge):
    prompt = 'def g(x):\n    return 10 * x\n\n\ndef f(x):\n    """Undo g."""\n'
    check = CheckFunction(code="def check(candidate):\n    assert candidate(g(7)) == 7\n")
    honest = prompt + "    return x // 10\n"
    cheat = "def g(x):\n    return 7\ndef f(x):\n    return 7\n"
    assert isinstance(verdict_of(judge, honest, tests=check, prompt=prompt).verdict, Passed)
    many = CheckFunction(
        code="def check(candidate):\n    for x in (7, 8):\n        assert candidate(g(x)) == x\n"
    )
    assert isinstance(verdict_of(judge, honest, tests=many, prompt=prompt).verdict, Passed)
    assert isinstance(verdict_of(judge, cheat, tests=many, prompt=prompt).verdict, Failed)


def test_a_builtin_cannot_be_replaced_under_the_test(judge):
    source = (
        "def sorted(x):\n    return [1, 2]\ndef len(x):\n    return 2\ndef f(x):\n    return []\n"
    )
    found = verdict_of(judge, source, "sorted(f(1)) == [1, 2]", "len(f(1)) == 2")
    assert found.verdict.score == 0


def test_assertions_about_a_function_named_like_a_builtin(judge):
    assert builtin_entry_points(["sum(1, 2) == 3"]) == ["sum"]
    assert builtin_entry_points(["sum(1, 2) == 3", "len(f(1)) == 2"]) == []
    source = "def sum(a, b):\n    return a + b\n"
    found = verdict_of(judge, source, "sum(1, 2) == 3", "abs(sum(1, -5)) == 4", entry_point=None)
    assert isinstance(found.verdict, Passed)


def test_asserts_of_a_check_function_are_tests_of_their_own(judge):
    check = CheckFunction(
        code="def check(candidate):\n"
        "    assert True, 'not a test'\n"
        "    assert candidate(1) == 2\n"
        "    for x in range(3):\n"
        "        assert candidate(x) < 3\n"
        "    assert candidate(5) == 6, 'message'\n"
    )
    found = verdict_of(judge, "def f(x):\n    return x + 1\n", tests=check)
    assert [test.passed for test in found.verdict.tests] == [True, False, True]
    assert found.verdict.score == pytest.approx(2 / 3)


def test_an_exception_between_asserts_fails_those_that_did_not_run(judge):
    check = CheckFunction(
        code="def check(candidate):\n"
        "    assert candidate(1) == 2\n"
        "    value = candidate(2)\n"
        "    assert value == 3\n"
        "    assert candidate(3) == 4\n"
    )
    source = "def f(x):\n    if x == 2: raise ValueError('two')\n    return x + 1\n"
    found = verdict_of(judge, source, tests=check)
    assert outcomes(found)[0] == (True, Bucket.PASSED)
    assert outcomes(found)[1:] == [(False, Bucket.TEST_EXCEPTION)] * 2


def test_a_check_without_asserts_passes_if_it_returns(judge):
    check = CheckFunction(
        code="def check(candidate):\n    if candidate(1) != 2:\n        raise AssertionError\n"
    )
    right = verdict_of(judge, "def f(x):\n    return 2\n", tests=check)
    wrong = verdict_of(judge, "def f(x):\n    return 3\n", tests=check)
    assert isinstance(right.verdict, Passed)
    assert wrong.verdict.bucket is Bucket.WRONG_ANSWER
    unloadable = verdict_of(judge, "1 / 0\n", tests=check)
    assert unloadable.verdict.bucket is Bucket.LOAD_EXCEPTION


def test_a_loop_that_the_candidate_leaves_is_not_a_pass(judge):
    check = CheckFunction(
        code="def check(candidate):\n    for x in range(5):\n        assert candidate(x) == x\n"
    )
    source = "import os\ndef f(x):\n    if x == 3: os._exit(0)\n    return x\n"
    found = verdict_of(judge, source, tests=check)
    assert found.verdict.bucket is Bucket.EARLY_EXIT
    assert found.verdict.score == 0


def test_the_limit_covers_all_tests_and_a_timeout_costs_the_score(judge):
    source = "import time\ndef f(x):\n    time.sleep(0.4)\n    return x\n"
    targets = [f"f({n}) == {n}" for n in range(4)]
    found = verdict_of(judge, source, *targets, limits=Limits().with_seconds(1))
    assert found.verdict.bucket is Bucket.WALL_TIME
    assert found.verdict.score == 0
    assert [test.passed for test in found.verdict.tests][:1] == [True]


def test_the_time_of_the_tests_themselves_is_not_the_candidates(judge):
    check = CheckFunction(
        code="import time\ndef check(candidate):\n"
        "    time.sleep(1.2)\n    assert sum([candidate(1)]) == 2\n"
    )
    source = "def f(x):\n    return x + 1\n"
    found = verdict_of(judge, source, tests=check, limits=Limits().with_seconds(1))
    assert isinstance(found.verdict, Passed)


def test_tests_can_measure_the_time_of_every_candidate(judge):
    waits = "t = time.monotonic()\nf(0.2)\nassert time.monotonic() - t >= 0.2"
    hurries = "t = time.monotonic()\nf(0.2)\nassert time.monotonic() - t < 0.2"
    for number in range(2):
        source = f"import time\ndef f(x):\n    time.sleep(x)\n    return {number}\n"
        found = verdict_of(judge, source, waits, hurries, setup="import time")
        assert [test.passed for test in found.verdict.tests] == [True, False]


def test_early_stop_leaves_the_rest_alone(sandbox):
    judge = AssertionJudge(sandbox, early_stop=True)
    source = "def f(x):\n    print(x)\n    return x\n"
    plain = verdict_of(judge, source, "f(1) == 1", "f(2) == 3", "f(3) == 3")
    assert [test.passed for test in plain.verdict.tests] == [True, False]
    assert plain.verdict.score == pytest.approx(1 / 3)
    examined = verdict_of(judge, source, "abs(f(1)) == 1", "abs(f(2)) == 3", "abs(f(3)) == 3")
    assert [test.passed for test in examined.verdict.tests] == [True, False]
    assert b"3" not in examined.findings.executions[0].stdout


def test_a_pass_by_asking_the_candidates_object_needs_a_reference_that_does_the_same(judge):
    liar = (
        "class C:\n    def __contains__(self, x):\n        return True\ndef f():\n    return C()\n"
    )
    plain = "def f():\n    return [3, 4]\n"
    believed = verdict_of(judge, liar, "3 in f()", entry_point="f")
    assert isinstance(believed.verdict, Passed)
    assert "asked" in believed.findings.notes
    doubted = verdict_of(judge, liar, "3 in f()", canonical_solution=plain)
    assert doubted.verdict.bucket is Bucket.WRONG_ANSWER
    same = verdict_of(judge, liar, "3 in f()", canonical_solution=liar)
    assert isinstance(same.verdict, Passed)


REFERENCE = "import pathlib\ndef f():\n    return pathlib.PurePosixPath('a') / 'b'\n"
TARGET = "f() == __import__('pathlib').PurePosixPath('a/b')"


def test_what_cannot_cross_is_judged_together_if_the_reference_needs_it(judge):
    right = verdict_of(judge, REFERENCE, TARGET, canonical_solution=REFERENCE)
    assert isinstance(right.verdict, Passed)
    assert right.judged == "together"
    wrong_source = REFERENCE.replace("'b'", "'c'")
    wrong = verdict_of(judge, wrong_source, TARGET, canonical_solution=REFERENCE)
    assert wrong.verdict.bucket is Bucket.WRONG_ANSWER
    assert wrong.judged == "together"


def test_without_a_reference_what_cannot_cross_is_not_equal(judge):
    assert verdict_of(judge, REFERENCE, TARGET).verdict.bucket is Bucket.WRONG_ANSWER


PATCHING = CheckFunction(
    code="import io, contextlib\n"
    "def check(candidate):\n"
    "    out = io.StringIO()\n"
    "    with contextlib.redirect_stdout(out):\n"
    "        candidate('x')\n"
    "    assert out.getvalue() == 'hello x\\n'\n"
)
GREET = "def f(name):\n    print('hello', name)\n"


def test_tests_that_capture_output_are_recognised_and_run_together(judge):
    right = verdict_of(judge, GREET, tests=PATCHING, canonical_solution=GREET)
    assert isinstance(right.verdict, Passed)
    assert right.judged == "together"
    silent = verdict_of(judge, "def f(name):\n    pass\n", tests=PATCHING, canonical_solution=GREET)
    assert silent.verdict.bucket is Bucket.WRONG_ANSWER
    assert isinstance(verdict_of(judge, GREET, tests=PATCHING).verdict, Passed)


@pytest.mark.parametrize(
    ("source", "bucket"),
    [
        ("def f(name:\n", Bucket.SYNTAX),
        ("raise ValueError('x')\n", Bucket.LOAD_EXCEPTION),
        ("def f(name):\n    raise ValueError('x')\n", Bucket.TEST_EXCEPTION),
        ("import os\ndef f(name):\n    os._exit(0)\n", Bucket.EARLY_EXIT),
        ("import sys\ndef f(name):\n    sys.exit(0)\n", Bucket.EARLY_EXIT),
        ("import sys\nsys.exit(0)\n", Bucket.EARLY_EXIT),
        ("def f(name):\n    while True: pass\n", Bucket.CPU_TIME),
        ("def g(name):\n    pass\n", Bucket.TEST_EXCEPTION),
        ("import subprocess\n", Bucket.DENIED),
    ],
)
def test_the_buckets_are_the_same_when_judged_together(judge, source, bucket):
    found = verdict_of(
        judge,
        source,
        tests=PATCHING,
        canonical_solution=GREET,
        metadata=Metadata(denylist=True),
        limits=Limits().with_seconds(1),
    )
    assert (found.verdict.bucket, found.judged) == (bucket, "together")


def test_leaving_politely_after_forging_a_result_is_not_a_pass(judge):
    source = (
        "import os, struct\n"
        "def f(name):\n"
        '    for kind, data in ((22, b\'{"why":"passed","detail":""}\'),\n'
        '                       (23, b\'{"ending":null,"notes":[],"token":""}\')):\n'
        "        os.write(3, struct.pack('<IBI', len(data), kind, 0) + data)\n"
        "    os._exit(0)\n"
    )
    found = verdict_of(judge, source, tests=PATCHING, canonical_solution=GREET)
    assert found.verdict.bucket is Bucket.TAMPERING


def test_a_task_whose_tests_do_not_work_blames_nobody(judge):
    broken = CheckFunction(code="def check(candidate):\n    assert candidate(\n")
    with pytest.raises(UnfitError, match="cannot be compiled"):
        verdict_of(judge, "def f():\n    pass\n", tests=broken)
    with pytest.raises(UnfitError, match="prompt"):
        verdict_of(judge, "def f():\n    pass\n", "abs(f()) == 1", prompt="1 / 0\n")


def test_a_task_whose_reference_fails_everywhere_blames_nobody(judge):
    with pytest.raises(UnfitError, match="reference"):
        verdict_of(judge, GREET, tests=PATCHING, canonical_solution="def f(name):\n    pass\n")


def test_a_test_that_does_not_end_on_an_answer_is_a_timeout(judge, monkeypatch):
    monkeypatch.setattr("proctor.judge.live_tests.EXAMINER_SECONDS", 1.0)
    found = verdict_of(
        judge,
        "def f():\n    return 10**12\n",
        "sum(1 for _ in range(f())) == 3",
        limits=Limits().with_seconds(0.5),
    )
    assert found.verdict.bucket is Bucket.CPU_TIME


def test_an_argument_full_of_commas_is_one_value(judge):
    text = "," * 2_500_000
    check = CheckFunction(
        code=f"def check(f):\n    for _ in range(2):\n        assert f({text!r}) == {len(text)}\n"
    )
    source = "def f(x):\n    return len(x)\n"
    found = verdict_of(judge, source, tests=check, limits=Limits().with_seconds(20))
    assert isinstance(found.verdict, Passed)


def test_an_endless_answer_ends(judge):
    found = verdict_of(
        judge,
        "import itertools\ndef f():\n    return itertools.count()\n",
        "list(f()) == [0]",
        limits=Limits().with_seconds(1),
    )
    assert found.verdict.bucket in (Bucket.CPU_TIME, Bucket.WALL_TIME, Bucket.OUTPUT_OVERFLOW)


def wrong_versions(row):
    """Ways to be wrong that keep the shape of a solution."""
    name = row["entry_point"]
    yield f"def {name}(*args, **kwargs):\n    return None\n"
    yield (
        f"{row['prompt']}{row['canonical_solution']}\n\n_right = {name}\n\n"
        f"def {name}(*args, **kwargs):\n    return [_right(*args, **kwargs)]\n"
    )


def test_with_and_without_an_examiner_the_verdict_is_the_same(judge, sandbox, data, monkeypatch):
    rows = [json.loads(line) for line in gzip.open(data / "humaneval" / "HumanEval.jsonl.gz")]
    reduced = 0
    for row in random.Random(0).sample(rows, 8):
        task = Task(
            task_id=row["task_id"],
            prompt=row["prompt"],
            entry_point=row["entry_point"],
            tests=CheckFunction(code=row["test"]),
        )
        if reduce_to_cases(task) is None:
            continue
        with monkeypatch.context() as patch:
            patch.setattr("proctor.judge.assertions.reduce_to_cases", lambda _: None)
            examined = AssertionJudge(sandbox)
            examined.judge(task, Program(source="pass"))
        for source in (row["prompt"] + row["canonical_solution"], *wrong_versions(row)):
            program = Program(source=source)
            reduced += 1
            assert outcomes(judge.judge(task, program)) == outcomes(
                examined.judge(task, program)
            ), source
    assert reduced > 0


@pytest.mark.parametrize(
    ("target", "method"),
    [
        ("abs(f(1) - 2) < 1e-9", "def __sub__(self, other): return 0"),
        ("1e-9 > abs(f(1) - 2)", "def __sub__(self, other): return 0"),
        ("abs(2 - f(1)) < 1e-9", "def __rsub__(self, other): return 0"),
        ("f(1).bit_length() == 2 or f(1).conjugate() + 1 == 3", "def __getattr__(self, name): return lambda *a: Lie()\n    def __add__(self, other): return 3"),
        ("f(1).__add__(1) == 3", "def __getattribute__(self, name): return lambda *a: 3"),
    ],
)  # fmt: skip
def test_an_object_that_answers_what_the_test_wants_to_hear(sandbox, target, method):
    lie = f"class Lie:\n    {method}\n\ndef f(x):\n    return Lie()\n"
    task = Task(
        task_id="t",
        entry_point="f",
        tests=Assertions(targets=[target]),
        canonical_solution="def f(x):\n    return 2 * x\n",
    )
    verdict = AssertionJudge(sandbox).judge(task, Program(source=lie)).verdict
    assert verdict.bucket is Bucket.WRONG_ANSWER
    right = (
        AssertionJudge(sandbox).judge(task, Program(source="def f(x):\n    return x + x\n")).verdict
    )
    assert isinstance(right, Passed)


def test_objects_that_the_reference_has_too_may_be_told_anything(sandbox):
    source = "class V:\n    def __init__(self, n): self.n = n\n    def __mul__(self, k): return self.n * k\n    def at(self, k): return self.n + k\n\ndef f(x):\n    return V(x)\n"
    task = Task(
        task_id="t",
        entry_point="f",
        tests=Assertions(targets=["f(2) * 3 == 6", "f(2).at(1) == 3"]),
        canonical_solution=source,
    )
    assert isinstance(AssertionJudge(sandbox).judge(task, Program(source=source)).verdict, Passed)


@pytest.mark.parametrize(
    "value",
    ["2", "2.5", "3", "True", "2 + 0j", "'2'", "None", "[2]", "float('nan')", "10**400",
     "__import__('fractions').Fraction(9, 4)", "__import__('decimal').Decimal(2)", "{1: 2}", "{2}",
     "__import__('collections').Counter('aa')", "1 / 0", "object()"],
)  # fmt: skip
def test_near_a_number_means_the_same_here_and_in_an_examiner(judge, value):
    source = f"def f():\n    return {value}\n"
    for near, examined in (
        ("abs(f() - 2) < 0.5", "0.5 > abs(f() - 2)"),
        ("abs(f() - 2) <= 0.5", "0.5 >= abs(f() - 2)"),
    ):
        here, there = verdict_of(judge, source, near), verdict_of(judge, source, examined)
        assert here.verdict.bucket == there.verdict.bucket
