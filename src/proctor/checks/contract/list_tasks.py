"""Print ids and digests of a benchmark's tasks in order; run with `python -m`."""

import json
import sys
from pathlib import Path

from proctor.benchmarks import load
from proctor.checks.contract.rows import listing
from proctor.errors import ProctorError


def main() -> None:
    """Load what the command line names, from where it names."""
    name, *places = sys.argv[1:]
    data, folder = (Path(place) if place else None for place in places)
    try:
        found = listing(load(name, data, folder))
    except ProctorError as error:
        sys.exit(str(error))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
