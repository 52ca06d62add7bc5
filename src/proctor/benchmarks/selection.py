"""Select tasks of a benchmark: those of a release, or those of some dates."""

from collections.abc import Sequence
from datetime import date

import msgspec

from proctor.benchmarks.source import Source
from proctor.errors import InputError
from proctor.records.task import Task
from proctor.storage.jsonl import Line


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks that the user asked for; all by default."""

    release: str | None = None
    start: date | None = None
    """The first day, itself included."""
    end: date | None = None
    """The last day, itself included."""

    def files(self, source: Source) -> Sequence[str]:
        """Return the names of the files to read."""
        if not source.releases:
            if self.release is not None:
                raise InputError(f"--release {self.release}: {source.name} has no releases")
            return (source.file,)
        release = self.release or list(source.releases)[-1]
        if release not in source.releases:
            known = ", ".join(source.releases)
            raise InputError(f"--release {release}: {source.name} has {known}")
        return source.releases[release]

    def wants(self, task: Task, line: Line) -> bool:
        """Return True if a task is selected."""
        if self.start is None and self.end is None:
            return True
        if task.metadata.date is None:
            raise line.error("the task has no date to choose it by")
        day = date.fromisoformat(task.metadata.date)
        return (self.start is None or day >= self.start) and (self.end is None or day <= self.end)


def parse_day(flag: str, text: str | None) -> date | None:
    """Parse a date from the command line."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{flag} {text}: write it as 2024-08-31") from None
