"""All runs of a folder as a table for the terminal."""

from proctor.report.text import printable
from proctor.results.history import History, PastRun
from proctor.results.pass_at_k import Estimate

COLUMNS = ("when", "benchmark", "model", "strategy", "n", "score", "95 %", "state", "where")
WIDEST = 40


def render(history: History, k: str) -> str:
    """Return a table of runs."""
    rows = [list(COLUMNS)] + [_row(run, k) for run in history.runs]
    rows[0][5] = f"pass@{k}"
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    damaged = [
        f"  {run.state}: {printable(run.run_dir)}: {printable(run.why)}"
        for run in history.runs
        if run.why
    ]
    return "\n".join([*lines, *damaged]) + "\n"


def _row(run: PastRun, k: str) -> list[str]:
    figure = run.pass_at_k.get(k)
    value, interval = figures(figure)
    return [
        run.created[:16].replace("T", " ") or "?",
        printable(run.benchmark) or "?",
        short(printable(run.model)) or "?",
        printable(run.strategy),
        str(run.n_samples or ""),
        value if run.samples else "",
        interval,
        run.state,
        printable(run.run_dir),
    ]


def figures(figure: Estimate | None) -> tuple[str, str]:
    """Return a score and its interval as text, empty where there is none."""
    if figure is None or figure.value is None:
        return "", ""
    value = f"{100 * figure.value:.1f} %"
    if figure.low is None or figure.high is None:
        return value, ""
    return value, f"{100 * figure.low:.1f} to {100 * figure.high:.1f}"


def short(text: str) -> str:
    """Return the end of a long name, which tells more than its beginning."""
    return text if len(text) <= WIDEST else "…" + text[1 - WIDEST :]
