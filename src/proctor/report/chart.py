"""How scores went from run to run: a plot for the terminal, a line chart in SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from proctor.report.history import short
from proctor.report.text import printable
from proctor.results.history import History, PastRun
from proctor.results.pass_at_k import Estimate

PLOT = 50
WIDTH, HEIGHT, MARGIN = 800, 320, 48
HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    f'font-family="sans-serif" font-size="11"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
)
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#8250df", "#bf8700", "#0f766e")


def plot(history: History, k: str) -> str:
    """Return a line a run, its interval around its score."""
    lines = []
    for benchmark, runs in _by_benchmark(history, k):
        lines.append(f"{printable(benchmark)}, pass@{k}: 0 % to 100 %")
        names = [short(printable(run.model)) for run in runs]
        width = max(map(len, names))
        lines += [
            f"  {name:<{width}} {_mark(run.pass_at_k[k])}"
            for name, run in zip(names, runs, strict=True)
        ]
    return "\n".join(lines) + "\n" if lines else ""


def _mark(figure: Estimate) -> str:
    first, at, last = (round(one * PLOT) for one in _bounds(figure))
    cells = ["·"] * (PLOT + 1)
    cells[first : last + 1] = ["─"] * (last + 1 - first)
    cells[at] = "●"
    return f"{''.join(cells)} {100 * (figure.value or 0.0):5.1f} %"


def _bounds(figure: Estimate) -> tuple[float, float, float]:
    """Return the lower bound, the score and the upper bound; all equal without an interval."""
    value = figure.value or 0.0
    low = value if figure.low is None else figure.low
    return low, value, value if figure.high is None else figure.high


def svg(history: History, k: str) -> str:
    """Return a line a benchmark over its runs in order of time, with bands."""
    groups = _by_benchmark(history, k)
    max_runs = max((len(runs) for _, runs in groups), default=0)
    parts = [HEAD]
    for share in range(0, 101, 20):
        y = _y(share / 100)
        parts.append(
            f'<path d="M{MARGIN} {y:.1f}H{WIDTH - MARGIN}" stroke="#ddd"/>'
            f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{share} %</text>'
        )
    for place, (benchmark, runs) in enumerate(groups):
        colour = COLOURS[place % len(COLOURS)]
        name = escape(printable(f"{benchmark}, pass@{k}"))
        parts.append(f'<text x="{MARGIN + 8}" y="{16 + 14 * place}" fill="{colour}">{name}</text>')
        parts += _line(runs, k, colour, max_runs)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _line(runs: Sequence[PastRun], k: str, colour: str, max_runs: int) -> Iterator[str]:
    xs = [_x(index, max_runs) for index in range(len(runs))]
    lows, values, highs = zip(*(map(_y, _bounds(run.pass_at_k[k])) for run in runs), strict=True)
    band = [*zip(xs, highs, strict=True), *reversed(list(zip(xs, lows, strict=True)))]
    points = list(zip(xs, values, strict=True))
    yield f'<polygon points="{_points(band)}" fill="{colour}" opacity=".12"/>'
    yield f'<polyline points="{_points(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for (x, y), run in zip(points, runs, strict=True):
        score = 100 * (run.pass_at_k[k].value or 0.0)
        label = escape(printable(f"{run.model} · {run.created} · {score:.1f} %"))
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">'
            f"<title>{label}</title></circle>"
        )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _x(index: int, max_runs: int) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * (index / (max_runs - 1) if max_runs > 1 else 0.5)


def _y(value: float) -> float:
    return HEIGHT - MARGIN / 2 - (HEIGHT - MARGIN) * value


def _by_benchmark(history: History, k: str) -> list[tuple[str, list[PastRun]]]:
    """Return the runs that have a score, by benchmark."""
    scored = [
        run for run in history.runs if k in run.pass_at_k and run.pass_at_k[k].value is not None
    ]
    scored.sort(key=lambda run: run.benchmark)
    return [(name, list(runs)) for name, runs in groupby(scored, lambda run: run.benchmark)]
