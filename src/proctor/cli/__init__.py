"""The command line: one short function a command.

Exit status: 0 done; 1 done but degraded, or a gate said no; 2 bad input; 3 we failed;
130 interrupted, resumable.
"""

import sys
import traceback

from proctor.errors import ProctorError


def main() -> None:
    """Run a command and turn whatever goes wrong into one sentence and an exit status."""
    from proctor.cli.app import app  # noqa: PLC0415  a broken installation is a defect, too

    try:
        app()
    except ProctorError as error:
        _complain(str(error))
        sys.exit(error.exit_status)
    except Exception as error:  # noqa: BLE001  the last place where anything can be caught
        traceback.print_exception(error)
        _complain("this is a defect of Proctor; please report it with the lines above")
        sys.exit(3)


def _complain(message: str) -> None:
    from proctor.report.text import safe  # noqa: PLC0415

    print(f"proctor: {safe(message)}", file=sys.stderr)  # noqa: T201
