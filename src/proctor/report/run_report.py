"""The full report of a run: its tables, which every format shows, and its text for the terminal."""

from collections.abc import Iterator
from typing import Any

import msgspec

from proctor.records.limits import GIB, KIB, MIB, Limits
from proctor.records.verdict import OUTCOMES, Bucket
from proctor.report import axes, text
from proctor.report.breakdown import Details
from proctor.report.section import Section, format_figures, terminal_lines
from proctor.report.text import format_percent
from proctor.results.summary import Summary


def render(summary: Summary, details: Details) -> str:
    """Return the short summary and all other tables as text."""
    rest = [one for one in sections(summary, details) if not one.in_summary]
    lines = (line for one in rest for line in terminal_lines(one))
    return text.render(summary) + "".join(f"{line}\n" for line in lines)


def record(summary: Summary, details: Details) -> dict[str, Any]:
    """Return the summary with the details added, for programs."""
    return {**msgspec.to_builtins(summary), "details": msgspec.to_builtins(details)}


def sections(summary: Summary, details: Details) -> list[Section]:
    """Return the tables of the report, without empty ones."""
    every = (
        _scores(summary),
        _outcomes(summary),
        *(() if details.axes is None else axes.sections(details.axes)),
        _labels(details),
        _exceptions(details),
        _slowest(details),
        _unfit(summary),
        _missing(summary),
        _circumstances(summary, details),
    )
    return [section for section in every if section.rows]


def _scores(summary: Summary) -> Section:
    rows = []
    for k, figure in summary.pass_at_k.items():
        if not summary.groups:
            rows.append((f"pass@{k}", *format_figures(figure)))
        for name, part in summary.groups.items():
            rows.append((f"pass@{k} {name}", *format_figures(part.pass_at_k[k])))
    for k, figure in summary.without_compile_resource.items():
        rows.append((f"pass@{k} without compile_resource", *format_figures(figure)))
    columns = ("", "score", "95 % interval", "tasks", "left out", "interval by")
    return Section(title="Scores", columns=columns, rows=rows, in_summary=True)


def _outcomes(summary: Summary) -> Section:
    rows = [
        (OUTCOMES[Bucket(bucket)] or "unscored", bucket, str(count), _share(count, summary.samples))
        for bucket, count in summary.buckets.items()
    ]
    columns = ("outcome", "bucket", "samples", "share")
    return Section(title="Outcomes", columns=columns, rows=rows, in_summary=True)


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else ""


def _labels(details: Details) -> Section:
    rows = [
        (name, str(figure.tasks), format_percent(figure))
        for name, figure in details.by_label.items()
    ]
    return Section(title="By difficulty and tag", columns=("", "tasks", "pass@1"), rows=rows)


def _exceptions(details: Details) -> Section:
    rows = [(name, str(count)) for name, count in details.exceptions.items()]
    return Section(title="Most common exceptions", columns=("exception", "samples"), rows=rows)


def _slowest(details: Details) -> Section:
    rows = [
        (one.task_id, str(one.sample), f"{one.cpu_seconds:.3f} s", f"{one.limit_seconds:g} s")
        for one in details.slowest
    ]
    columns = ("task", "sample", "processor time", "limit")
    return Section(title="Slowest tasks", columns=columns, rows=rows)


def _unfit(summary: Summary) -> Section:
    rows = list(summary.unfit.items())
    title, columns = "Tasks that cannot be judged here", ("task", "why")
    return Section(title=title, columns=columns, rows=rows, in_summary=True)


def _missing(summary: Summary) -> Section:
    rows = [(why, str(count)) for why, count in summary.missing.items()]
    title, columns = "Samples that are unscored", ("why", "samples")
    return Section(title=title, columns=columns, rows=rows, in_summary=True)


def _circumstances(summary: Summary, details: Details) -> Section:
    return Section(
        title="How it was judged",
        columns=("", ""),
        rows=list(_facts(summary, details)),
    )


def _facts(summary: Summary, details: Details) -> Iterator[tuple[str, str]]:
    manifest = details.manifest
    yield "benchmark", f"{manifest.benchmark} ({manifest.tasks} tasks)"
    yield "digest of the benchmark", manifest.benchmark_sha256
    yield "model", manifest.model
    yield "prompt strategy", manifest.strategy
    yield (
        "judged",
        ", ".join(f"{count} {how}" for how, count in summary.judged.items()) or "nothing",
    )
    word = "isolated" if summary.isolated else "NOT ISOLATED"
    yield "sandbox", f"{summary.sandbox} ({word}), clock {manifest.enforcement.clock}"
    for name, by in manifest.enforcement.walls.items():
        yield f"wall: {name}", by
    for place, limits in enumerate(details.limits):
        yield "limits" if not place else "limits of other tasks", _limits(limits)
    yield "comparator", manifest.compare or "each task's own"
    yield "code found", f"{manifest.extract}, preamble {manifest.preamble}"
    yield "processor time in all", f"{details.cpu_seconds:.1f} s"
    if details.reused:
        yield "identical programs", f"{details.reused} samples have the verdict of one that was run"
    if details.retried:
        yield "tried again", f"{details.retried} samples, because our side failed the first time"
    for note, count in details.notes.items():
        yield f"note: {note}", f"{count} samples"
    yield "versions", ", ".join(f"{name} {of}" for name, of in manifest.versions.items())
    yield "begun", f"{manifest.created} on {manifest.host}"


def _limits(limits: Limits) -> str:
    network = ", loopback network" if limits.loopback else ""
    return (
        f"{limits.cpu_seconds:g} s of processor time, {limits.wall_seconds:g} s of wall time, "
        f"{_size(limits.memory_bytes)} of memory, {_size(limits.output_bytes)} of output, "
        f"{limits.processes} processes, {_size(limits.file_bytes)} a file{network}"
    )


def _size(count: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
