"""Runs side by side, for the terminal."""

from collections.abc import Iterator, Sequence

from proctor.report.text import format_percent, printable
from proctor.results.comparison import Comparisons, Pair, Side
from proctor.results.stats import Comparison

SHOWN = 10
"""Tasks or fields that are named before it is only said how many more there are."""


def render(found: Comparisons) -> str:
    """Return a table of the runs and what every two of them differ in."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Comparisons) -> Iterator[str]:
    yield f"{printable(found.benchmark)} · {len(found.runs)} runs, {found.tasks} tasks in common"
    for k in found.runs[0].pass_at_k:
        yield ""
        yield from _table(found.runs, k)
    for pair in found.pairs:
        yield ""
        yield from _pair(found, pair)
    yield ""
    yield (
        f"  about {found.needed:,} tasks would show a difference of one point, with one sample "
        f"of each"
    )
    for side in found.runs:
        if side.unscored or not side.complete:
            yield f"  DEGRADED: {printable(side.run_dir)}: {_missing(side)}"


def _table(runs: Sequence[Side], k: str) -> Iterator[str]:
    first = k == next(iter(runs[0].pass_at_k))
    ordered = sorted(runs, key=lambda side: (side.rank, -(side.pass_at_k[k].value or 0.0)))
    shared = [side.rank for side in runs]
    width = max(len(printable(side.model)) for side in runs)
    yield f"  {'rank' if first else '':<5} {'model':<{width}}  pass@{k}"
    for side in ordered:
        tie = "=" if shared.count(side.rank) > 1 else ""
        rank = f"{side.rank}{tie}" if first else ""
        yield f"  {rank:<5} {printable(side.model):<{width}}  {format_percent(side.pass_at_k[k])}"


def _pair(found: Comparisons, pair: Pair) -> Iterator[str]:
    one, other = found.runs[pair.first], found.runs[pair.second]
    yield f"  {_name(other, found.runs)} against {_name(one, found.runs)}"
    for k, comparison in pair.by_k.items():
        yield f"    pass@{k:<4} {_difference(comparison)}"
        word = "beyond noise" if pair.beyond_noise[k] else "within noise"
        p_value = "" if comparison.p_value is None else f", p = {comparison.p_value:.3g}"
        yield f"              {word}{p_value}  ({comparison.method})"
    first = next(iter(pair.by_k.values()))
    shown = SHOWN if len(found.runs) == 2 else 0  # noqa: PLR2004  of many, names would be too many
    yield f"    better on {_names(first.gained, shown)}"
    yield f"    worse on {_names(first.lost, shown)}"
    if first.unpaired:
        yield f"    {first.unpaired} tasks are scored in one of them only and left out"
    if pair.changed_tasks:
        yield f"    {pair.changed_tasks} tasks are not the same in both and left out"
    for field, (ours, theirs) in list(pair.differs.items())[:SHOWN]:
        yield f"    not the same: {field} is {_brief(ours)} there, {_brief(theirs)} here"
    if len(pair.differs) > SHOWN:
        yield f"    and {len(pair.differs) - SHOWN} more fields that are not the same"


def _name(side: Side, runs: Sequence[Side]) -> str:
    """Return a run's model, or its folder if several have that model."""
    alone = sum(one.model == side.model for one in runs) == 1
    return printable(side.model if alone else side.run_dir)


def _difference(comparison: Comparison) -> str:
    points = f"{100 * comparison.difference:+.1f} points"
    if comparison.low is None or comparison.high is None:
        return points
    return f"{points}  [{100 * comparison.low:+.1f}, {100 * comparison.high:+.1f}]"


def _names(tasks: Sequence[str], shown: int) -> str:
    if not tasks or not shown:
        return f"{len(tasks)} tasks" if tasks else "no task"
    more = f" and {len(tasks) - shown} more" if len(tasks) > shown else ""
    return f"{len(tasks)}: {', '.join(printable(task) for task in tasks[:shown])}{more}"


def _brief(value: object) -> str:
    text = printable(str(value))
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004  a line's worth


def _missing(side: Side) -> str:
    parts = []
    if side.unscored:
        parts.append(f"{side.unscored} samples are unscored, not wrong")
    if not side.complete:
        parts.append("some samples have no receipt yet")
    return "; ".join(parts)
