"""The declaration of a benchmark: where its file comes from and how its rows are read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import ProctorError
from proctor.plugins import MAX_WHY
from proctor.records.task import Task
from proctor.storage.jsonl import Line

Read = Callable[[Line], Task]
Alias = Callable[[str], list[str]]
Fields = Mapping[str, Any]
"""One row, before it is read as a task."""


def no_alias(task_id: str) -> list[str]:
    """Return no other spelling of a task's id."""
    del task_id
    return []


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a benchmark says of itself, and its contract holds it to."""

    difficulty: Mapping[str, tuple[float, float]] = {}
    """Difficulty → the least and the most share of tasks that have it, from 0 to 1."""
    known: Mapping[str, Mapping[str, str]] = {}
    """Line of the contract → task that does not keep it → why that is so: a wrong reference."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of one benchmark."""

    name: str
    position: int = 1000
    """Lists are sorted by it; rows of an unnamed file are tried from the last to the first."""
    named: bool = True
    """Whether it is known by its name; else it is just a file."""
    summary: str
    tasks: int | None = None
    """How many there are, where that is known here."""
    file: str
    """The publisher's file name; `.gz` behind it is fine, too. A package that brings its file
    gives the whole path, and no url."""
    licence: str
    sha256: str | None = None
    """Of the uncompressed content; None where only the format is known here."""
    read: Read
    matches: Callable[[Fields], bool] | None = None
    """Whether a row has this format; None if files in it are only read under this name."""
    reader_for: Callable[[str], Read] | None = None
    """The reader of another file in this format, where task ids contain the benchmark's name."""
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
    requirements: Sequence[str] = ()
    """Lines for pip, where its solutions need certain versions of these packages."""
    declares: Declaration = Declaration()
    """What its contract holds it to; a file beside its own may say so instead."""


def reader(source: Source) -> Read:
    """Return what reads a benchmark's rows; a reader of another package may fail as it likes."""

    def read(line: Line) -> Task:
        try:
            task = source.read(line)
        except (ProctorError, MemoryError):
            raise
        except Exception as error:  # it is code of somebody else
            why = f"{type(error).__name__}: {error}"
            raise line.error(f"the reader of {source.name} fails: {why[:MAX_WHY]}") from error
        if not isinstance(task, Task):
            kind = type(task).__name__
            raise line.error(f"the reader of {source.name} makes a {kind} of it, not a Task")
        return task

    return read
