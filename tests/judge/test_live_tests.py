"""What test code reports is bounded and checked before it becomes part of a receipt."""

import json
from types import SimpleNamespace

import pytest

from proctor.judge.live_tests import ResultRecord
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, Malformed
from proctor.sandbox.inside.roles.examiner import MAX_TEXT

ORDER = {"declared": 2, "unit": True}
NO_TIME = SimpleNamespace(passed=0.0)


def result(number: int = 0, **message: object) -> Frame:
    whole = {"why": "wrong", "detail": "", **message}
    return Frame(frames.RESULT, number, json.dumps(whole).encode())


def test_texts_of_a_result_are_cut() -> None:
    record = ResultRecord(ORDER, NO_TIME)
    record.add(result(detail="d" * 10_000, expected="e" * 10_000, got="g" * 10_000))
    (test,) = record.tests()
    assert (test.detail, test.expected, test.got) == (
        "d" * MAX_TEXT,
        "e" * MAX_TEXT,
        "g" * MAX_TEXT,
    )


@pytest.mark.parametrize(
    "frame",
    [
        Frame(frames.RESULT, 0, b"{"),
        Frame(frames.RESULT, 0, b"\xff"),
        Frame(frames.RESULT, 0, b"[" + b"0," * 3_000_000 + b"0]"),
        Frame(frames.RESULT, 0, b"[]"),
        result(why="no such word"),
        result(why=["passed"]),
        result(detail=1e309),
        result(detail=None),
        result(got=["x" * 10_000]),
        result(number=2),
        result(number=1 << 31),
    ],
)
def test_malformed_results_are_refused(frame: Frame) -> None:
    with pytest.raises(Malformed):
        ResultRecord(ORDER, NO_TIME).add(frame)
