"""A summary for the terminal. What models wrote is hostile: control characters never get out."""

from collections.abc import Iterator

from proctor.records.verdict import OUTCOMES, Bucket
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import SuiteSummary, Summary, failure_reasons


def printable(text: str) -> str:
    """Return text on one line, with everything that could steer a terminal made visible."""
    text = text.replace("\n", " ⏎ ")
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}"


def format_percent(estimate: Estimate) -> str:
    """Return a score with its interval."""
    if estimate.value is None:
        return "no task has enough scored samples"
    value = f"{100 * estimate.value:.1f} %"
    if estimate.low is None or estimate.high is None:
        return f"{value}  ({estimate.method})"
    return f"{value}  [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]  ({estimate.method})"


def render(summary: Summary) -> str:
    """Return the report of a run as text."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    yield f"{printable(summary.benchmark)} · {printable(summary.model)}"
    yield ""
    yield from _scores(summary)
    yield ""
    yield f"  {summary.passed} of {summary.samples} samples passed, {summary.tasks} tasks"
    for bucket, number in summary.buckets.items():
        outcome = OUTCOMES[Bucket(bucket)] or "unscored"
        share = 100 * number / summary.samples
        yield f"    {outcome:<15} {bucket:<17} {number:>7}  {share:5.1f} %"
    if summary.cut_off:
        less = f", {summary.cut_off_passed} of which pass" if summary.cut_off_passed else ""
        yield f"  {summary.cut_off} answers are cut off at --max-tokens{less}"
    yield ""
    judged = ", ".join(f"{number} {how}" for how, number in summary.judged.items())
    isolated = "isolated" if summary.isolated else "NOT ISOLATED"
    yield f"  judged: {judged}; sandbox: {summary.sandbox} ({isolated})"
    if summary.degraded:
        yield f"  DEGRADED: {'; '.join(failure_reasons(summary))}"
        for task_id, why in summary.unfit.items():
            yield f"    {printable(task_id)}: {printable(why)}"
        for why, count in summary.missing.items():
            yield f"    {count} samples: {printable(why)}"
    if summary.seconds:
        yield f"  {summary.seconds:.1f} s"
    yield f"  {printable(summary.run_dir)}"


def _scores(summary: Summary) -> Iterator[str]:
    for k, estimate in summary.pass_at_k.items():
        if not summary.groups:
            yield f"  pass@{k:<4} {_figure(estimate)}"
        for place, (name, part) in enumerate(summary.groups.items()):
            head = "" if place else f"pass@{k}"
            yield f"  {head:<9} {printable(name):<11} {_figure(part.pass_at_k[k])}"
    for k, estimate in summary.without_compile_resource.items():
        yield f"  pass@{k:<4} {_figure(estimate)}, without compile_resource"


def render_suite(suite: SuiteSummary) -> str:
    """Return the report of several runs as text."""
    return "\n".join(_suite_lines(suite)) + "\n"


def _suite_lines(suite: SuiteSummary) -> Iterator[str]:
    yield f"{printable(suite.suite)} · {printable(suite.model)}"
    yield ""
    for k, estimate in suite.pass_at_k.items():
        rows = [*_suite_rows(suite, k), (f"all {suite.tasks} tasks", estimate)]
        width = max(len(name) for name, _ in rows)
        for place, (name, one) in enumerate(rows):
            head = "" if place else f"pass@{k}"
            yield f"  {head:<9} {name:<{width}}  {_figure(one)}"
    yield ""
    yield f"  {suite.passed} of {suite.samples} samples passed, {suite.tasks} tasks"
    for name, part in suite.benchmarks.items():
        if part.degraded:
            yield f"  DEGRADED: {printable(name)}: {'; '.join(failure_reasons(part))}"
    if suite.seconds:
        yield f"  {suite.seconds:.1f} s"
    yield f"  {printable(suite.run_dir)}"


def _suite_rows(suite: SuiteSummary, k: str) -> Iterator[tuple[str, Estimate]]:
    for name, part in suite.benchmarks.items():
        if k in part.pass_at_k and not part.groups:
            yield printable(name), part.pass_at_k[k]
        for group, figures in part.groups.items():
            if k in figures.pass_at_k:
                yield f"{printable(name)} {printable(group)}", figures.pass_at_k[k]


def _figure(estimate: Estimate) -> str:
    left_out = f", {estimate.left_out} tasks left out" if estimate.left_out else ""
    return format_percent(estimate) + left_out
