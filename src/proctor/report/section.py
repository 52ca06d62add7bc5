"""A table with a title, and an estimate as its cells."""

from collections.abc import Sequence

import msgspec

from proctor.results.pass_at_k import Estimate


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A table with a title. Its texts are as hostile as models are: a format escapes them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    in_summary: bool = False
    """Whether the short summary shows the same figures."""


def format_figures(figure: Estimate) -> tuple[str, str, str, str, str]:
    """Return an estimate as cells: value, interval, tasks, tasks left out, method."""
    value = "none" if figure.value is None else f"{100 * figure.value:.1f} %"
    interval = "none"
    if figure.low is not None and figure.high is not None:
        interval = f"{100 * figure.low:.1f} to {100 * figure.high:.1f}"
    return value, interval, str(figure.tasks), str(figure.left_out), figure.method
