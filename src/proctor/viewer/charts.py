"""The geometry of charts; templates draw it as SVG."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from proctor.results.pass_at_k import Estimate
from proctor.viewer.background_figures import Point


class Mark(NamedTuple):
    """One point of a chart, with what it stands for."""

    x: float
    y: float
    estimate: Estimate
    label: str
    address: str | None = None


class Tick(NamedTuple):
    """A place on an axis and what is written there."""

    at: float
    label: str


class Chart(NamedTuple):
    """A line with its band."""

    width: int
    height: int
    line: str
    band: str
    """Its outline; empty where there are no intervals."""
    marks: Sequence[Mark]
    across: Sequence[Tick] = ()
    up: Sequence[Tick] = ()


LEFT, RIGHT, TOP, BOTTOM = 44, 16, 12, 30
SPARK = 6


def curve(points: Sequence[Point], width: int = 560, height: int = 240) -> Chart | None:
    """Draw pass@k over k, k on a logarithmic axis."""
    if not points:
        return None
    widest = math.log(max(point.k for point in points))
    span, rise = width - LEFT - RIGHT, height - TOP - BOTTOM

    def across(k: int) -> float:
        return round(LEFT + span * (math.log(k) / widest if widest else 0.5), 1)

    def up(share: float) -> float:
        return round(TOP + rise * (1 - share), 1)

    marks = [
        Mark(across(point.k), up(point.estimate.value), point.estimate, f"pass@{point.k}")
        for point in points
        if point.estimate.value is not None
    ]
    return Chart(
        width=width,
        height=height,
        line=_path([(mark.x, mark.y) for mark in marks]),
        band=_band(marks, up),
        marks=marks,
        across=[Tick(across(point.k), str(point.k)) for point in points],
        up=[Tick(up(share / 4), f"{25 * share} %") for share in range(5)],
    )


def sparkline(
    runs: Sequence[tuple[str, Estimate, str | None]], width: int = 240, height: int = 56
) -> Chart:
    """Draw the scores of runs one after the other, in their order."""
    step = (width - 2 * SPARK) / max(1, len(runs) - 1)

    def up(share: float) -> float:
        return round(SPARK + (height - 2 * SPARK) * (1 - share), 1)

    marks = [
        Mark(round(SPARK + step * place, 1), up(estimate.value), estimate, label, address)
        for place, (label, estimate, address) in enumerate(runs)
        if estimate.value is not None
    ]
    line = _path([(mark.x, mark.y) for mark in marks])
    return Chart(width, height, line, _band(marks, up), marks)


def _band(marks: Sequence[Mark], up: Callable[[float], float]) -> str:
    whole = [mark for mark in marks if mark.estimate.low is not None]
    if len(whole) < 2:  # noqa: PLR2004  an area takes two
        return ""
    over = [(mark.x, up(mark.estimate.high or 0.0)) for mark in whole]
    under = [(mark.x, up(mark.estimate.low or 0.0)) for mark in reversed(whole)]
    return _path([*over, *under])


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
