"""Checkers: the test author's code says whether an answer is right, where no candidate can reach."""

import pytest

from proctor.judge.checker import Checker, find_checker_problem
from proctor.judge.judge import Judge
from proctor.judge.judgement import Rules
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import CallCases, StdinCases, Task
from proctor.records.verdict import Bucket, Passed, Unscored

# Any two different numbers whose sum is the input.
SUM = """
def check(input, expected, got):
    a, b = map(int, got.split())
    return a != b and a + b == int(input)
"""


def stdin_task(checker, inputs=("10", "7"), outputs=("1 9", "3 4"), seconds=2.0):
    tests = StdinCases(inputs=inputs, outputs=outputs, compare={"checker": checker})
    return Task(task_id="t", tests=tests, limits=Limits().with_seconds(seconds))


def calls_task(checker, inputs, outputs, **more):
    tests = CallCases(
        fn_name="f", inputs=inputs, outputs=outputs, compare={"checker": checker}, **more
    )
    return Task(task_id="t", tests=tests, limits=Limits().with_seconds(2))


def verdict(sandbox, task, source, rules=None):
    return Judge(sandbox, rules).judge(task, Program(source=source)).verdict


def results(found):
    return [(test.passed, test.detail) for test in found.tests]


def test_answers_other_than_the_expected_one_may_be_right(sandbox):
    found = verdict(sandbox, stdin_task(SUM), "n = int(input())\nprint(n + 1, -1)")
    assert isinstance(found, Passed)


def test_a_wrong_answer_is_wrong_for_the_checker_too(sandbox):
    found = verdict(sandbox, stdin_task(SUM), "n = int(input())\nprint(n // 2, n - n // 2)")
    assert results(found) == [(False, "the checker says no"), (True, "")]
    assert (found.bucket, found.score) == (Bucket.WRONG_ANSWER, 0.5)
    assert (found.tests[0].expected, found.tests[0].got) == ("1 9", "5 5\n")


def test_a_checker_that_raises_has_not_accepted(sandbox):
    found = verdict(sandbox, stdin_task(SUM), "print('x y')")
    assert found.bucket is Bucket.WRONG_ANSWER
    assert found.detail.startswith("the checker raised ValueError: invalid literal for int()")


def test_what_is_expected_is_not_right_by_itself(sandbox):
    task = calls_task("def check(input, expected, got):\n    return got == -expected", [[1]], [2])
    assert isinstance(verdict(sandbox, task, "def f(x): return -2"), Passed)
    assert verdict(sandbox, task, "def f(x): return 2").bucket is Bucket.WRONG_ANSWER


def test_values_keep_their_types(sandbox):
    checker = (
        "def check(input, expected, got):\n"
        "    assert input == [[3, 1], {'key': (1, 2)}], input\n"
        "    return type(got) is tuple and set(got) == set(expected)\n"
    )
    task = calls_task(checker, [[[3, 1]]], [[1, 3]], kwargs=[{"key": (1, 2)}])
    assert isinstance(verdict(sandbox, task, "def f(x, key): return 3, 1"), Passed)
    assert not isinstance(verdict(sandbox, task, "def f(x, key): return [3, 1]"), Passed)


@pytest.mark.parametrize(
    "answer",
    [
        "type('Yes', (), {'__eq__': lambda s, o: True, '__bool__': lambda s: True})()",
        "lambda *a: True",
        "[object()]",
        "type('Int', (int,), {'__eq__': lambda s, o: True, '__hash__': int.__hash__})(1)",
        "type('Lie', (), {'__class__': property(lambda s: int)})()",
    ],
)
def test_no_object_of_a_candidate_reaches_a_checker(sandbox, answer):
    task = calls_task("def check(input, expected, got):\n    return got == 42", [[]], [42])
    assert verdict(sandbox, task, f"def f(): return {answer}").bucket is Bucket.WRONG_ANSWER


def test_a_candidate_cannot_patch_what_a_checker_uses(sandbox):
    source = (
        "import builtins, random\n"
        "builtins.int = builtins.len = lambda *a: 10\n"
        "random.seed = lambda *a: None\n"
        "def f(): return 'x'\n"
    )
    checker = "def check(input, expected, got):\n    return len(got) == 10 or int('7') == 10\n"
    assert verdict(sandbox, calls_task(checker, [[]], [0]), source).bucket is Bucket.WRONG_ANSWER


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True: pass", "the limit of processor time was reached"),
        ("import os; os._exit(0)", "left with exit status 0"),
        ("raise SystemExit(0)", "the checker raised SystemExit: 0"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
def test_a_checker_that_gives_no_answer_has_not_accepted(sandbox, monkeypatch, code, said):
    monkeypatch.setattr("proctor.judge.live_tests.EXAMINER_SECONDS", 1.0)
    task = stdin_task(f"def check(input, expected, got):\n    {code}", ["1"], ["1"], 0.5)
    found = verdict(sandbox, task, "print(1)")
    assert found.bucket is Bucket.WRONG_ANSWER
    assert said in found.detail


@pytest.mark.parametrize("code", ["import no_such_module", "check = 1 / 0", "x = 1", "def check("])
def test_a_checker_that_does_not_load_is_the_benchmarks_fault(sandbox, code):
    found = verdict(sandbox, stdin_task(code), "print(1, 2)")
    assert isinstance(found, Unscored)
    assert found.bucket is Bucket.BENCHMARK
    assert found.reason.startswith("the checker does not load: ")


def test_what_a_checker_prints_is_nobodys_business(sandbox):
    checker = "def check(input, expected, got):\n    print('x' * 10_000)\n    return True\n"
    assert isinstance(verdict(sandbox, stdin_task(checker), "print()"), Passed)


def test_answers_too_large_to_cross_are_not_accepted(sandbox):
    task = calls_task("def check(input, expected, got):\n    return True", [[]], [0])
    checker = Checker(sandbox, task, "def check(*_): return True")
    assert "too large" in checker([], 0, "x" * (17 << 20))
    assert checker([], 0, "x" * (1 << 20)) is None


def test_a_rule_replaces_checkers_and_a_checker_profiles(sandbox):
    source = "n = int(input())\nprint(n + 1, -1)"
    assert not isinstance(verdict(sandbox, stdin_task(SUM), source, Rules(compare="exact")), Passed)
    tests = StdinCases(inputs=["10"], outputs=["1 9"], compare="exact")
    task = Task(task_id="t", tests=tests)
    assert isinstance(verdict(sandbox, task, source, Rules(checker=SUM)), Passed)


def test_what_is_wrong_with_a_checker_is_said_before_it_runs():
    assert find_checker_problem(SUM) is None
    assert find_checker_problem("from somewhere import check") is None
    for code in ("", "def chek(): pass", "def check(", "x\0"):
        assert (
            find_checker_problem(code) == "is not Python that defines check(input, expected, got)"
        )
