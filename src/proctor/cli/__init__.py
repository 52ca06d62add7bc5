"""The command line: one short function a command.

Exit status: 0 done; 1 done but degraded, or a gate said no; 2 bad input; 3 we failed;
130 interrupted, resumable.
"""

import sys
import traceback

from proctor.errors import ProctorError

MAX_MESSAGE = 8192


def main() -> None:
    """Run a command and turn whatever goes wrong into one sentence and an exit status."""
    from proctor.cli.app import app, misuse  # noqa: PLC0415  a broken installation is a defect

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # rather an ugly character than no report
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(standalone_mode=False))
    except ProctorError as error:
        _complain(str(error))
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  the last place where anything can be caught
        complaint = misuse(error)
        if complaint is not None:
            _complain(complaint)
            sys.exit(2)
        for line in "".join(traceback.format_exception(error)).splitlines():
            _say(line)
        _complain("this is a defect of Proctor; please report it with the lines above")
        sys.exit(3)


def _complain(message: str) -> None:
    _say(f"proctor: {message}")


def _say(line: str) -> None:
    from proctor.report.text import safe  # noqa: PLC0415

    shown = safe(line[:MAX_MESSAGE]) + ("…" if len(line) > MAX_MESSAGE else "")
    print(shown, file=sys.stderr)  # noqa: T201
