"""Charts stay within their frames and draw what they are given."""

from hypothesis import given
from hypothesis import strategies as st

from proctor.results.pass_at_k import Estimate
from proctor.viewer.background_figures import Point
from proctor.viewer.charts import curve, sparkline


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(
        value=value, low=low, high=high, tasks=9, samples=9, unscored=0, left_out=0, method="m"
    )


def numbers(points: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=11))
def test_a_curve_stays_within_its_frame(values: list[float]) -> None:
    points = [Point(k, estimate(value, 0.0, 1.0)) for k, value in enumerate(values, 1)]
    chart = curve(points)
    assert chart is not None
    assert len(chart.marks) == len(chart.across) == len(values)
    for x, y in [*numbers(chart.line), *numbers(chart.band)]:
        assert 0 <= x <= chart.width
        assert 0 <= y <= chart.height
    assert sorted(mark.x for mark in chart.marks) == [mark.x for mark in chart.marks]


def test_higher_is_higher() -> None:
    chart = curve([Point(1, estimate(0.2)), Point(10, estimate(0.9))])
    assert chart is not None
    assert chart.marks[0].y > chart.marks[1].y
    assert chart.band == ""


def test_nothing_to_draw() -> None:
    assert curve([]) is None


def test_a_run_without_a_score_leaves_a_gap() -> None:
    one, gap, other = (
        ("a", estimate(0.5), "/1"),
        ("b", estimate(None), None),
        ("c", estimate(1.0), None),
    )
    chart = sparkline([one, gap, other])
    assert [mark.label for mark in chart.marks] == ["a", "c"]
    assert chart.marks[0].address == "/1"
    assert len(numbers(chart.line)) == 2
