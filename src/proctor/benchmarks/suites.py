"""Several benchmarks by one name, or by a list of names."""

from pathlib import Path

from proctor.errors import InputError, boundary
from proctor.storage.jsonl import shorten

SUITES = {"standard": ("humaneval", "mbpp", "bigcodebench-hard")}


def members(text: str) -> list[str]:
    """Return the benchmarks that a name, a path, a suite or a list of such means."""
    with boundary(InputError, f"cannot read {shorten(text)}"):
        if "," not in text or Path(text).exists():  # a file may have a comma in its name
            return list(SUITES.get(text, (text,)))
    parts = [part.strip() for part in text.split(",")]
    names = [name for part in parts for name in SUITES.get(part, (part,))]
    if not all(names):
        raise InputError(f"{text}: a name is missing; write it as humaneval,mbpp")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{text}: {name} is in it twice")
    return names
