"""The four axes as sections: what every format shows of them."""

from collections.abc import Iterator, Sequence

from proctor.axes.finding import Kind
from proctor.axes.labels import Worth
from proctor.axes.measure import Axes, SampleAxes
from proctor.report.section import Section, format_figures
from proctor.results.pass_at_k import Estimate

SHOWN = 50
"""Findings that are shown one by one; the file has them all."""
NAMES = {
    "compile": "1 compiles",
    "adherence": "2 keeps to its context",
    "hallucination": "3 invents (lower is better)",
    "correctness": "4 is correct",
}


def sections(axes: Axes) -> Iterator[Section]:
    """Yield the sections about a run's axes."""
    yield _rates(axes)
    yield _excluded(axes)
    yield _kinds(axes)
    yield _tasks(axes)


def compare_axes(every: Sequence[Axes]) -> Section:
    """Return the axes of several runs side by side."""
    rows = [(one.model, *(_with_interval(getattr(one, field)) for field in NAMES)) for one in every]
    return Section(title="Axes", columns=("model", *NAMES.values()), rows=rows)


def _with_interval(figure: Estimate) -> str:
    value, interval = format_figures(figure)[:2]
    left_out = f", {figure.unscored} excluded" if figure.unscored else ""
    return f"{value} ({interval}{left_out})"


def _rates(axes: Axes) -> Section:
    rows = []
    for field, name in NAMES.items():
        figure = getattr(axes, field)
        rows.append((name, *format_figures(figure)[:3], str(figure.samples), str(figure.unscored)))
    columns = ("axis", "value", "95 % interval", "tasks", "samples", "excluded")
    return Section(title="Axes", columns=columns, rows=rows)


def _excluded(axes: Axes) -> Section:
    rows = [(why, str(count)) for why, count in axes.excluded.items()]
    if axes.resource:
        rows.append(("compiler ran out of something (axis 1)", str(axes.resource)))
    return Section(title="Excluded from axes 2 and 3", columns=("why", "samples"), rows=rows)


def _kinds(axes: Axes) -> Section:
    rows = [(kind, str(axes.findings[kind])) for kind in Kind if kind in axes.findings]
    return Section(title="Samples with findings", columns=("kind", "samples"), rows=rows)


def _tasks(axes: Axes) -> Section:
    rows = [
        (
            one.task_id,
            str(one.samples),
            *(_share(getattr(one, field)) for field in NAMES),
            str(one.excluded),
        )
        for one in axes.tasks
    ]
    columns = ("task", "samples", "compiles", "adherence", "invents", "correct", "excluded")
    return Section(title="Axes by task", columns=columns, rows=rows)


def _share(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.0f} %"


def findings(axes: Axes) -> Section:
    """Return findings one by one, the first of them if there are many."""
    rows = [row for one in axes.details for row in found(one)]
    columns = ("task", "sample", "line", "column", "kind", "name")
    return Section(title="Findings", columns=columns, rows=rows[:SHOWN])


def worth(checked: Worth) -> Iterator[Section]:
    """Yield how many labels of each kind were found, and where something else was."""
    rows = [
        (
            str(kind),
            *(str(part.get(kind, 0)) for part in (checked.labels, checked.found, checked.extra)),
        )
        for kind in Kind
    ]
    yield Section(title="Findings", columns=("kind", "labelled", "found", "extra"), rows=rows)
    misses = [
        (one.task, one.name, str(one.status), _names(one.missed), _names(one.extra))
        for one in checked.misses
    ]
    if misses:
        columns = ("task", "answer", "status", "missed", "extra")
        yield Section(title="Answers that are read otherwise", columns=columns, rows=misses)


def _names(pairs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in pairs) or "nothing"


def found(one: SampleAxes) -> Iterator[tuple[str, ...]]:
    """Yield the findings of one sample."""
    for finding in one.reading.findings if one.reading is not None else ():
        place = (str(finding.line), str(finding.column))
        yield one.task_id, str(one.sample), *place, str(finding.kind), finding.qualified
