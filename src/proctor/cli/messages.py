"""Messages that all commands print in the same form, on standard error."""

import sys
from contextlib import suppress

MAX_MESSAGE = 8192
INTERRUPTED = 130
"""Exit status of a command that was interrupted and can be resumed."""


def complain(message: str) -> None:
    """Print one sentence on standard error."""
    print_error_line(f"proctor: {message}")


def print_error_line(line: str) -> None:
    """Print one line on standard error, cut if it is very long."""
    from proctor.report.text import printable  # noqa: PLC0415  only for errors

    shown = printable(line[:MAX_MESSAGE]) + ("…" if len(line) > MAX_MESSAGE else "")
    with suppress(OSError):  # the exit status says it, too
        print(shown, file=sys.stderr)  # noqa: T201
