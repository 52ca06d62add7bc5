"""Calls are batched only where a candidate that reads ahead learns nothing from it."""

from collections import deque
from decimal import Decimal

import pytest

from proctor.judge.batching import can_batch
from proctor.judge.calls import CallBatch, encode_call
from proctor.judge.judge import Judge
from proctor.judge.literal_asserts import reduce_to_cases
from proctor.judge.reference_comparison import LONG
from proctor.records.program import Program
from proctor.records.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Metadata,
    ReferenceCases,
    Task,
)
from proctor.records.verdict import Bucket

READS_AHEAD = """
import gc
import re
import sys


def reachable_texts():
    things, seen, frame = [], set(), sys._getframe()
    while frame is not None:
        things += frame.f_locals.values()
        frame = frame.f_back
    things += gc.get_objects()
    for thing in things:
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            yield thing
        elif isinstance(thing, (bytes, bytearray, memoryview)):
            yield bytes(thing).decode("latin-1")
        else:
            things += gc.get_referents(thing)


def f(word):
    word = word[0] if isinstance(word, list) else word
    for text in reachable_texts():
        for found in re.findall(f"[a-z]{{{len(word)}}}", text):
            if found != word and sorted(found) == sorted(word):
                return found
"""
REVERSES = "def f(word):\n    return (word[0] if isinstance(word, list) else word)[::-1]\n"
FIRST, SECOND = "zyxwvq", "qvwxyz"

PLAIN = Assertions(targets=[f"f({FIRST!r}) == {SECOND!r}", f"f({SECOND!r}) == {FIRST!r}"])
TESTS = {
    "assertions": PLAIN,
    "nested": Assertions(targets=[f"f({FIRST!r}) == {SECOND!r}", f"f([{SECOND!r}]) == {FIRST!r}"]),
    "check": CheckFunction(
        code="def check(candidate):\n"
        f"    assert candidate({FIRST!r}) == {SECOND!r}\n"
        f"    assert candidate({SECOND!r}) == {FIRST!r}\n"
    ),
    "examined": CheckFunction(
        code="def check(candidate):\n"
        f"    for word in ({FIRST!r}, {SECOND!r}):\n"
        "        assert candidate(word) == word[::-1]\n"
    ),
    "calls": CallCases(fn_name="f", inputs=[[FIRST], [SECOND]], outputs=[SECOND, FIRST]),
    "reference": ReferenceCases(fn_name="f", inputs=[[FIRST], [SECOND]]),
    "digest": ReferenceCases(fn_name="f", inputs=[["zyx" * LONG], ["xyz" * LONG]]),
}


def task_of(tests, **metadata):
    return Task(
        task_id="t",
        entry_point="f",
        tests=tests,
        canonical_solution=REVERSES,
        metadata=Metadata(**metadata),
    )


def bucket_of(judge, task, source):
    return judge.judge(task, Program(source=source)).verdict.bucket


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("kind", TESTS)
def test_answers_of_a_round_trip_test_cannot_be_read_ahead(sandbox, kind):
    judge, task = Judge(sandbox), task_of(TESTS[kind])
    for _ in range(2):
        assert bucket_of(judge, task, REVERSES) is Bucket.PASSED
        assert bucket_of(judge, task, READS_AHEAD) is Bucket.WRONG_ANSWER


def test_answers_could_be_read_in_a_batch(sandbox):
    task = task_of(PLAIN)
    batch = CallBatch([encode_call(case) for case in reduce_to_cases(task)])
    requests = batch.requests(Program(source=READS_AHEAD), denied=False)
    tests, _ = batch.judge(sandbox.exchange(requests, task.limits), early_stop=False)
    assert all(test.passed for test in tests)


def test_one_at_a_time_hides_trivial_values_too(sandbox):
    tests = Assertions(targets=["f('zqx') == 'xqz'", "f('xqz') == 'zqx'"])
    assert bucket_of(Judge(sandbox), task_of(tests), READS_AHEAD) is Bucket.PASSED
    careful = task_of(tests, one_at_a_time=True)
    assert bucket_of(Judge(sandbox), careful, READS_AHEAD) is Bucket.WRONG_ANSWER
    assert bucket_of(Judge(sandbox), careful, REVERSES) is Bucket.PASSED


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("abcdef", "abcdef"),
        (["abcdef"], "abcdef"),
        ({"key": [("abcdef", 1)]}, "abcdef"),
        ({"abcdef": 1}, "abcdef"),
        ({("abcdef", 1)}, "abcdef"),
        ([[1, 2], [3, 4]], [3, 4]),
        ((1, 2, 3), [1, 2, 3]),
        ([1, 2, 3], deque([1, 2, 3])),
        ({1: [2, 3]}, {1: (2, 3)}),
        ({1, 2, 3}, frozenset({3, 2, 1})),
        (1000000, 1000000.0),
        (b"abc", b"abc"),
        (bytearray(b"abc"), bytearray(b"abc")),
        (Decimal("1.00"), Decimal(1)),
    ],
)
def test_an_expected_value_among_the_arguments_of_another_test(argument, expected):
    assert not can_batch([["x"], [argument]], [expected, None])
    assert can_batch([[argument], ["x"]], [expected, None]), "its own argument is no secret"
    assert not can_batch([[argument], [argument]], [expected, expected])


def test_all_arguments_together_are_a_value():
    assert not can_batch([["x"], ["abc", 13]], [("abc", 13), None])


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("abcdefg", "abcdef"),
        ("abc", "abc"),
        ([True, None], True),
        (99999, 99999),
        ([3, 2, 1], [1, 2, 3]),
        ({2: 1, 4: 3}, {1: 2, 3: 4}),
        ("123456", 123456),
        (float("nan"), [float("nan")]),
        (Decimal("sNaN"), "abcdef"),
    ],
)
def test_other_values_do_no_harm(argument, expected):
    assert can_batch([["x"], [argument]], [expected, None])


def test_deep_and_wide_values_are_compared_in_linear_time():
    deep = list(range(100_000))
    for _ in range(100):
        deep = [deep]
    assert can_batch([[deep], [deep]], [0, "abcdef"])
    assert not can_batch([["x"], [deep]], [deep[0][0], None])
