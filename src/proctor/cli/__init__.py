"""The command line: one short function a command.

Exit status: 0 done; 1 done but degraded, or a gate said no; 2 bad input; 3 we failed;
130 interrupted, resumable.
"""

import os
import sys
import traceback

from proctor.cli.interrupt import terminable
from proctor.cli.messages import INTERRUPTED, complain, print_error_line
from proctor.errors import ProctorError


def main() -> None:
    """Run a command and turn whatever goes wrong into one sentence and an exit status."""
    try:
        _set_up_streams()
        with terminable():
            from proctor.cli.app import app  # noqa: PLC0415  so that interrupts during it are handled

            status = app(standalone_mode=False)
        sys.exit(status)
    except ProctorError as error:
        complain(str(error))
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(INTERRUPTED)
    except MemoryError:
        complain("there is no memory left; what was graded is kept")
        sys.exit(3)
    except Exception as error:  # noqa: BLE001  the last place where anything can be caught
        for line in "".join(traceback.format_exception(error)).splitlines():
            print_error_line(line)
        complain("this is a defect of Proctor; please report it with the lines above")
        sys.exit(3)


def _set_up_streams() -> None:
    """See that all three streams are there, so that no file of a run is taken for one of them."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004
        pass
    os.close(spare)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # rather an ugly character than no report
            stream.reconfigure(errors="backslashreplace")
