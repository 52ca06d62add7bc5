"""A summary for the terminal. What models wrote is hostile: control characters never get out."""

from collections.abc import Iterator

from proctor.score import Estimate
from proctor.summary import Summary
from proctor.verdict import OUTCOMES, Bucket


def safe(text: str) -> str:
    """Return text on one line, with everything that could steer a terminal made visible."""
    text = text.replace("\n", " ⏎ ")
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}"


def percent(estimate: Estimate) -> str:
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
    yield f"{safe(summary.benchmark)} · {safe(summary.model)}"
    yield ""
    for k, estimate in summary.pass_at_k.items():
        left_out = f", {estimate.left_out} tasks left out" if estimate.left_out else ""
        yield f"  pass@{k:<4} {percent(estimate)}{left_out}"
    yield ""
    yield f"  {summary.passed} of {summary.samples} samples passed, {summary.tasks} tasks"
    for bucket, number in summary.buckets.items():
        outcome = OUTCOMES[Bucket(bucket)] or "unscored"
        share = 100 * number / summary.samples
        yield f"    {outcome:<15} {bucket:<17} {number:>7}  {share:5.1f} %"
    yield ""
    judged = ", ".join(f"{number} {how}" for how, number in summary.judged.items())
    isolated = "isolated" if summary.isolated else "NOT ISOLATED"
    yield f"  judged: {judged}; sandbox: {summary.sandbox} ({isolated})"
    if summary.degraded:
        yield f"  DEGRADED: {_degraded(summary)}"
        for task_id, why in summary.unfit.items():
            yield f"    {safe(task_id)}: {safe(why)}"
    if summary.seconds:
        yield f"  {summary.seconds:.1f} s"
    yield f"  {safe(summary.run_dir)}"


def _degraded(summary: Summary) -> str:
    reasons = []
    if summary.unscored:
        reasons.append(f"{summary.unscored} samples are unscored, not wrong")
    if not summary.complete:
        reasons.append("some samples have no receipt yet; run the same command again")
    return "; ".join(reasons)
