"""Questions to an index."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.records.verdict import Bucket, Outcome
from proctor.viewer.index import Index
from proctor.viewer.index_queries import ORDERS, IndexQueries

P, W, T, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME, Bucket.HARNESS


@pytest.fixture
def lookup(make_run: Callable[..., Path], cache: Path) -> IndexQueries:
    run = make_run("one", {"x/2": [P, W], "x/10": [P, P], "Y": [W, W], "nobody": [H, H]})
    index = Index(run, 100, cache)
    index.update()
    return index.lookup


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("order", ["x/2", "x/10", "Y", "nobody"]),
        ("name", ["Y", "nobody", "x/10", "x/2"]),
        ("hardest", ["Y", "x/2", "x/10", "nobody"]),
        ("easiest", ["x/10", "x/2", "Y", "nobody"]),
        ("slowest", ["x/2", "x/10", "Y", "nobody"]),
    ],
)
def test_orders(lookup: IndexQueries, order: str, names: list[str]) -> None:
    total, rows = lookup.rows(order, "", 0, 10)
    assert (total, [row.name for row in rows]) == (4, names)


def test_every_order_can_be_asked_for(lookup: IndexQueries) -> None:
    for order in ORDERS:
        assert lookup.rows(order, "", 1, 2)[0] == 4


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("x/", ["x/2", "x/10"]), ("y", ["Y", "nobody"]), ("%", []), ("' OR 1=1 --", [])],
)
def test_a_filter_is_plain_text(lookup: IndexQueries, wanted: str, names: list[str]) -> None:
    total, rows = lookup.rows("order", wanted, 0, 10)
    assert (total, [row.name for row in rows]) == (len(names), names)


def test_parts(lookup: IndexQueries) -> None:
    assert [row.name for row in lookup.rows("order", "", 1, 2)[1]] == ["x/10", "Y"]
    total, found = lookup.in_bucket(W, 1, 1)
    assert (total, [(one.task, one.sample) for one in found]) == (3, [("Y", 0)])
    assert lookup.in_bucket(T, 0, 5) == (0, [])


def test_neighbours(lookup: IndexQueries) -> None:
    def neighbours(task: str, sample: int) -> list[tuple[str, int] | None]:
        found = lookup.sample(task, sample)
        assert found is not None
        return [one and (one.task, one.sample) for one in lookup.neighbours(found)]

    assert neighbours("x/2", 0) == [None, ("x/2", 1)]
    assert neighbours("x/2", 1) == [("x/2", 0), ("x/10", 0)]
    assert neighbours("nobody", 1) == [("nobody", 0), None]


def test_one_sample(lookup: IndexQueries) -> None:
    found = lookup.sample("x/2", 1)
    assert found is not None
    assert (found.bucket, found.outcome, found.seconds) == (W, Outcome.ASSERTION_FAIL, 0.5)
    assert lookup.sample("x/2", 2) is None
    assert [one.sample for one in lookup.of_task("x/2", 1, 5)] == [1]


def test_stretches(lookup: IndexQueries) -> None:
    row = lookup.task("x/2")
    assert row is not None
    assert (row.first, row.stretches) == (0, [(0, 1, "a"), (1, 1, "b")])
    assert lookup.task("none") is None
    assert row._replace(cells="..aab").first == 2
    assert row._replace(cells="..").first is None
    assert row._replace(cells="..aab").stretches == [(0, 2, "."), (2, 2, "a"), (4, 1, "b")]
