"""One row of the table of benchmarks: where its file comes from and how its rows are read."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from proctor.lines import Line
from proctor.task import Task

Read = Callable[[Line], Task]
Alias = Callable[[str], list[str]]


def no_alias(task_id: str) -> list[str]:
    """Return no other spelling of a task's id."""
    del task_id
    return []


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    summary: str
    tasks: int | None = None
    """How many there are, where that is known here."""
    file: str
    """The publisher's file name; `.gz` behind it is fine, too."""
    licence: str
    sha256: str | None = None
    """Of the uncompressed content; None where only the format is known here."""
    read: Read
    url: str | None = None
    """Where its publisher keeps it; None: it comes with Proctor."""
    package: tuple[str, str] | None = None
    """A Python package that carries the file, and the extra that installs it."""
    alias: Alias = no_alias
    """Other spellings of a task id that samples files use."""
    cached: tuple[str, ...] = ()
    """Where its publisher's own tool keeps the file, below the user's home."""
    folder: str | None = None
    """The folder that its file lies in, if that is not called as it is."""
    releases: Mapping[str, Sequence[str]] = {}
    """Release → its files; the last one is the default. None: there is one file."""
    libraries: Sequence[str] = ()
    """Packages that its solutions import; those that are installed are shown to candidates."""
