"""Identical programs of one task are judged once."""

import threading
from collections.abc import Callable
from itertools import count

import pytest

from proctor.cancellation import Cancelled
from proctor.errors import HostError
from proctor.grading.duplicates import Duplicates
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket


def test_the_second_caller_waits_for_the_first(receipt: Callable[..., Receipt]) -> None:
    duplicates, begun, go = Duplicates(), threading.Event(), threading.Event()
    results: list[tuple[Receipt, bool]] = []

    def slow() -> Receipt:
        begun.set()
        assert go.wait(10)
        return receipt(0)

    def never() -> Receipt:
        raise AssertionError

    first = threading.Thread(target=lambda: results.append(duplicates.once(("t", "p"), slow)))
    second = threading.Thread(target=lambda: results.append(duplicates.once(("t", "p"), never)))
    first.start()
    assert begun.wait(10)
    second.start()
    go.set()
    first.join()
    second.join()
    assert sorted(own for _, own in results) == [False, True]
    assert {one.sample for one, _ in results} == {0}


def test_an_exception_reaches_the_caller_and_is_not_kept(receipt: Callable[..., Receipt]) -> None:
    duplicates = Duplicates()

    def defect() -> Receipt:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            duplicates.once(("t", "p"), defect)


def test_an_unscored_program_is_judged_again(receipt: Callable[..., Receipt]) -> None:
    duplicates, number = Duplicates(), count()

    def run() -> Receipt:
        return receipt(next(number), Bucket.HARNESS)

    assert [duplicates.once(("t", "p"), run)[0].sample for _ in range(3)] == [0, 1, 2]


def test_old_receipts_are_dropped(
    receipt: Callable[..., Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.grading.duplicates.MAX_RECEIPTS", 10)
    duplicates = Duplicates()
    for number in range(100):
        duplicates.once(("t", str(number)), lambda: receipt(0))
    assert len(duplicates._receipts) == 10


def test_receipts_are_read_from_the_journal(receipt: Callable[..., Receipt]) -> None:
    """Only the place is kept; what cannot be read any more, or is of another program, is run."""
    written = {
        place: receipt(place, task_sha256="t", program_sha256=f"p{place}") for place in range(9)
    }
    duplicates = Duplicates(written.get)
    for place, one in written.items():
        assert duplicates.once(("t", f"p{place}"), lambda one=one: one) == (one, True)
        duplicates.note_place(("t", f"p{place}"), place)
    assert not duplicates._receipts
    for place, one in written.items():
        assert duplicates.once(("t", f"p{place}"), unused) == (one, False)
    other = receipt(100)
    del written[3]
    written[4] = other
    for place in (3, 4):
        assert duplicates.once(("t", f"p{place}"), lambda: other) == (other, True)


def unused() -> Receipt:
    raise AssertionError


def test_a_host_error_is_not_kept(receipt: Callable[..., Receipt]) -> None:
    """A host that gave out may have recovered."""
    duplicates = Duplicates()

    def full() -> Receipt:
        raise HostError("no room")

    with pytest.raises(HostError):
        duplicates.once(("t", "p"), full)
    assert duplicates.once(("t", "p"), lambda: receipt(1))[1]


def test_a_cancelled_caller_does_not_cancel_the_next(
    receipt: Callable[..., Receipt],
) -> None:
    duplicates, begun, go = Duplicates(), threading.Event(), threading.Event()
    results: list[bool] = []

    def dropped() -> Receipt:
        begun.set()
        assert go.wait(10)
        raise Cancelled

    def leave() -> None:
        with pytest.raises(Cancelled):
            duplicates.once(("t", "p"), dropped)

    first = threading.Thread(target=leave)
    first.start()
    assert begun.wait(10)
    second = threading.Thread(
        target=lambda: results.append(duplicates.once(("t", "p"), lambda: receipt(1))[1])
    )
    second.start()
    go.set()
    first.join()
    second.join()
    assert results == [True]
