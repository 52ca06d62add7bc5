"""Calls and the values expected of them; the time limit covers one case."""

import time

import pytest

from proctor.judge.calls import CallBatch, encode_call, judge_all
from proctor.judge.conversation import Transcript
from proctor.judge.judge import Judge
from proctor.judge.judgement import Rules
from proctor.judge.literal_asserts import Case
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import CallCases, Task
from proctor.records.verdict import Bucket, Passed
from proctor.sandbox.inside.protocol import frames


def judged(sandbox, source, inputs, outputs, rules=None, entry_point=None, seconds=2.0, **kwargs):
    cases = CallCases(fn_name="f", inputs=inputs, outputs=outputs, **kwargs)
    task = Task(
        task_id="t",
        tests=cases,
        entry_point=entry_point,
        limits=Limits().with_seconds(seconds),
    )
    return Judge(sandbox, rules).judge(task, Program(source=source))


def passed(judgement):
    return [test.passed for test in judgement.verdict.tests]


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("(1, 2)", [1, 2], True),
        ("[(1,), (2,)]", [[1], [2]], True),
        ("{1: 'a'}", {"1": "a"}, True),
        ("[1]", 1, False),
        ("1", [1], False),
        ("1.0", 1, True),
        ("0.1 + 0.2", 0.3, False),
        ("'1'", 1, False),
        ("None", None, True),
        ("float('nan')", float("nan"), False),
        ("{1, 2}", [1, 2], False),
        ("iter([1])", [1], False),
    ],
)
def test_values_are_compared_as_json_knows_them(sandbox, answer, expected, right):
    verdict = judged(sandbox, f"def f():\n    return {answer}\n", [[]], [expected]).verdict
    assert isinstance(verdict, Passed) is right


def test_a_profile_may_allow_tolerance(sandbox):
    source = "def f():\n    return 0.1 + 0.2\n"
    assert passed(judged(sandbox, source, [[]], [0.3], compare="float(1e-9)")) == [True]
    rules = Rules(compare="exact")
    assert passed(judged(sandbox, source, [[]], [0.3], rules, compare="float(1e-9)")) == [False]


def test_keyword_arguments_and_methods(sandbox):
    source = "class Solution:\n    def f(self, a, b=0):\n        return a - b\n"
    judgement = judged(
        sandbox, source, [[5], []], [4, 3], entry_point="Solution().f", kwargs=[{"b": 1}, {"a": 3}]
    )
    assert isinstance(judgement.verdict, Passed)


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("class Solution:\n    def f(self, a): return a\n", True),
        ("class Base:\n    def f(self, a): return a\nclass Solution(Base): pass\n", True),
        ("class Solution:\n    def f(self, a): return 0\ndef f(a): return a\n", True),
        ("class Solution: pass\nf = lambda a: a\n", True),
        ("class Other:\n    def f(self, a): return a\n", False),
        ("class Solution:\n    def g(self, a): return a\n", False),
        ("# Solution\ndef f(a): return a\n", True),
        ("class Solution:\n    def f(self, a): return a\n)", False),
    ],
)
def test_a_function_may_be_a_method_of_solution(sandbox, source, right):
    assert isinstance(judged(sandbox, source, [[5]], [5]).verdict, Passed) is right


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ([3], "3", True),
        ([3], "[3]", True),
        ([[1, 2]], "(1, 2)", True),
        ([{"1": 2}], "{1: 2}", True),
        (3, "[3]", False),
        ([3, 4], "3", False),  # which verl's own comparison takes
        ([], "None", False),
        ([[3]], "3", False),
    ],
)
def test_a_profile_may_take_one_value_for_a_list_of_it(sandbox, expected, answer, right):
    source = f"def f():\n    return {answer}\n"
    assert passed(judged(sandbox, source, [[]], [expected], compare="verl")) == [right]


def test_functions_that_work_in_place_are_judged_by_their_argument(sandbox):
    source = "def f(numbers, flag):\n    numbers.sort()\n"
    judgement = judged(sandbox, source, [[[3, 1, 2], 0]], [[1, 2, 3]], compare_argument=0)
    assert isinstance(judgement.verdict, Passed)


def test_a_case_that_times_out_fails_alone(sandbox):
    source = (
        "import time\nstate = []\ndef f(x):\n    state.append(x)\n"
        "    if x == 2: time.sleep(60)\n    return x\n"
    )
    judgement = judged(sandbox, source, [[1], [2], [3]], [1, 2, 3], seconds=0.5)
    assert passed(judgement) == [True, False, True]
    assert judgement.verdict.bucket is Bucket.WALL_TIME
    assert judgement.verdict.score == pytest.approx(2 / 3)


def test_who_writes_too_much_has_not_passed_however_late_that_comes_out(sandbox):
    source = (
        "import os\ndef f(x):\n    if x == 2: os.write(1, b'x' * (2 ** 20 + 1))\n    return x\n"
    )
    judgement = judged(sandbox, source, [[1], [2]], [1, 2])
    assert passed(judgement) == [True, False]
    assert judgement.verdict.bucket is Bucket.OUTPUT_OVERFLOW


def test_the_limit_is_one_cases_not_all_of_them(sandbox):
    source = "import time\ndef f(x):\n    time.sleep(0.3)\n    return x\n"
    judgement = judged(sandbox, source, [[1]] * 4, [1] * 4, seconds=0.6)
    assert isinstance(judgement.verdict, Passed)


def test_all_cases_together_have_a_limit_too(sandbox):
    source = "import time\ndef f(x):\n    time.sleep(60)\n"
    rules = Rules(task_seconds=0.5)
    judgement = judged(sandbox, source, [[1]] * 20, [1] * 20, rules, seconds=0.4)
    assert judgement.verdict.score == 0
    assert "whole task" in judgement.verdict.tests[-1].detail
    assert judgement.findings.usage.wall_seconds < 2


@pytest.mark.parametrize(
    ("body", "bucket"),
    [
        ("import os; os._exit(0)", Bucket.EARLY_EXIT),
        ("raise SystemExit", Bucket.EARLY_EXIT),
        ("raise ValueError", Bucket.TEST_EXCEPTION),
        ("import os; os.abort()", Bucket.CRASH),
    ],
)
def test_a_case_that_ends_the_process_does_not_take_the_others_along(sandbox, body, bucket):
    source = f"def f(x):\n    if x == 2:\n        {body}\n    return x\n"
    judgement = judged(sandbox, source, [[1], [2], [3]], [1, 2, 3])
    assert passed(judgement) == [True, False, True]
    assert judgement.verdict.bucket is bucket


def test_a_program_that_does_not_load_fails_every_case_once(sandbox):
    judgement = judged(sandbox, "import time\ntime.sleep(0.2)\n1 / 0\n", [[1]] * 50, [1] * 50)
    assert judgement.verdict.bucket is Bucket.LOAD_EXCEPTION
    assert len(judgement.verdict.tests) == 50
    assert judgement.findings.usage.wall_seconds < 3


def test_early_stop_and_a_maximum_of_tests(sandbox):
    source = "def f(x):\n    return len(x)\n"
    inputs = [["a"], ["bbb"], ["cc"], ["dddd"]]
    stopped = judged(sandbox, source, inputs, [1, 0, 2, 4], Rules(early_stop=True))
    assert passed(stopped) == [True, False]
    assert stopped.verdict.score == 0.25
    longest = judged(sandbox, source, inputs, [0, 3, 0, 4], Rules(max_tests=2))
    assert passed(longest) == [True, True]


def test_answers_that_would_be_costly_to_look_at_are_not_looked_at(sandbox):
    # A set of numbers whose hashes are all the same takes quadratic time to build.
    source = """
import json, sys
numbers = [{"i": hex((2**61 - 1) * n)} for n in range(200_000)]
def f():
    for module in list(sys.modules.values()):
        if hasattr(module, "pack_contents"):
            module.dump = lambda message: json.dumps({"v": {"s": numbers}}).encode()
"""
    before = time.process_time()
    judgement = judged(sandbox, source, [[]], [[1]], seconds=10)
    assert judgement.verdict.bucket is Bucket.WRONG_ANSWER
    assert time.process_time() - before < 5


def asked(*cases):
    """Return batch of calls: target, arguments, named arguments, what is expected."""
    return CallBatch(
        [
            encode_call(
                Case(index=index, target=target, args=args, kwargs=kwargs, expected=expected)
            )
            for index, (target, args, kwargs, expected) in enumerate(cases)
        ]
    )


def kinds(requests):
    return [frame.kind for frame in frames.Reader().feed(requests)]


PROGRAM = Program(source="def f(x, y=0):\n    return [x, (y, 1.5)]\n")
RIGHT = [
    ("f", [1], {}, [1, (0, 1.5)]),
    ("f", ["a", None], {}, ["a", (None, 1.5)]),
    ("f", [{1: (2, 3)}], {}, [{1: (2, 3)}, (0, 1.5)]),
]


@pytest.mark.parametrize(
    ("cases", "kind"),
    [
        (RIGHT, [frames.CALLS]),
        ([*RIGHT, ("f", [1], {"y": 2}, [1, (2, 1.5)])], 4 * [frames.CALL]),
        ([*RIGHT, ("(f)", [1], {}, [1, (0, 1.5)])], 4 * [frames.CALL]),
        ([("f", ["x" * 9_000_000], {}, None)] * 2, 2 * [frames.CALL]),
    ],
    ids=["one function", "names", "another function", "too large for one message"],
)
def test_calls_of_one_function_are_one_message(cases, kind):
    requests = asked(*cases).requests(PROGRAM, denied=False)
    assert kinds(requests) == [frames.LOAD, *kind, frames.END]


@pytest.mark.parametrize(
    ("cases", "right"),
    [
        (RIGHT, [True, True, True]),
        ([("f", [1], {}, [1.0, (0, 1.5)]), *RIGHT[1:]], [True, True, True]),
        ([("f", [1], {}, [2, (0, 1.5)]), *RIGHT[1:]], [False, True, True]),
        ([*RIGHT[:2], ("f", [1, float("nan")], {}, [1, (float("nan"), 1.5)])], [True, True, False]),
        ([*RIGHT[:2], ("f", [], {}, None)], [True, True, False]),
    ],
    ids=["the very bytes", "equal", "wrong", "what is not equal to itself", "raises"],
)
def test_all_at_once_is_as_one_by_one(sandbox, cases, right):
    """That all answers are the very bytes of the right ones is only a shorter way to see it."""
    batch = asked(*cases)
    requests = batch.requests(PROGRAM, denied=False)
    exchanged = sandbox.exchange(requests, Limits())
    tests, objects = batch.judge(exchanged, early_stop=False)
    assert ([test.passed for test in tests], objects) == (right, False)
    looked_at = judge_all(Transcript(exchanged), batch.calls, early_stop=False)
    assert looked_at == (tests, objects)


@pytest.mark.parametrize(("size", "times"), [(900_000, 3), (2_500_000, 1)])
def test_texts_that_look_like_many_values_are_few(sandbox, size, times):
    """What is counted in hostile messages is not what tests may pass to a candidate."""
    batch = asked(*[("f", ["," * size], {}, size)] * times)
    program = Program(source="def f(x):\n    return len(x)\n")
    exchanged = sandbox.exchange(batch.requests(program, denied=False), Limits())
    tests, _ = batch.judge(exchanged, early_stop=False)
    assert [test.passed for test in tests] == [True] * times
