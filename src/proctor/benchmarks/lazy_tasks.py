"""Tasks that are too many for memory: each is read again from where it lies when it is needed.

What is held of a task is its id, its digest and its place. Rows of a file that can be read from
anywhere stay there; others, those of a compressed file say, are written to a temporary one.
"""

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple, overload

from proctor.errors import HostError, InputError, boundary
from proctor.records.task import Task
from proctor.storage.jsonl import Line

HELD_BYTES = 64 << 20
"""How many bytes of rows are held as tasks; of larger files only their index is."""
KEPT = 256
"""How many tasks are kept as they are, for whoever asks for one again and again."""


class LazyTasks:
    """Tasks in a list as long as their rows are not too large for that, then on a shelf."""

    def __init__(self, read: Callable[[Line], Task]) -> None:
        self._read = read
        self._held: list[tuple[Line, Task]] = []
        self._bytes = 0
        self._shelf: Shelf | None = None

    def add(self, line: Line, task: Task) -> None:
        """Take one more."""
        if self._shelf is not None:
            self._shelf.add(line, task)
            return
        self._held.append((line, task))
        self._bytes += len(line.text)
        if self._bytes > HELD_BYTES:
            self._shelf = Shelf(self._read)
            for held in self._held:
                self._shelf.add(*held)
            self._held.clear()

    @property
    def all(self) -> Sequence[Task]:
        """All that were taken, in order."""
        return [task for _, task in self._held] if self._shelf is None else self._shelf


class Row(NamedTuple):
    """What is held of a task: where it stands, without its text, what it is called, its digest."""

    line: Line
    task_id: str
    sha256: str


class Shelf(Sequence[Task]):
    """Tasks in files, in their order."""

    def __init__(
        self,
        read: Callable[[Line], Task],
        files: "dict[Path, IO[bytes]] | None" = None,
        rows: "Sequence[Row]" = (),
    ) -> None:
        """Put up a shelf for rows of some files; `read` makes a task of a row."""
        self._read = read
        self._files = {} if files is None else files
        self._rows = list(rows)
        self._spool: IO[bytes] | None = None
        self._kept: OrderedDict[int, Task] = OrderedDict()
        self._lock = threading.Lock()
        self.memory_bytes = 0

    def add(self, line: Line, task: Task) -> None:
        """Put a task on the shelf, behind all others."""
        with boundary(HostError, "cannot keep tasks in a temporary file"):
            place = line.place or self._spooled(line.text)
            if line.file not in self._files:
                self._files[line.file] = self._opened(line)
        self._rows.append(Row(line._replace(text=b"", place=place), task.task_id, task.sha256))
        self.memory_bytes = max(self.memory_bytes, task.limits.memory_bytes)

    @property
    def ids(self) -> Sequence[str]:
        """Ids of all tasks in order."""
        return [row.task_id for row in self._rows]

    @property
    def digests(self) -> Sequence[str]:
        """Digests of all tasks in order."""
        return [row.sha256 for row in self._rows]

    def find(self, task_id: str) -> Task:
        """Return a task by its id."""
        return self[self._places[task_id]]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Task: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...

    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        if isinstance(index, slice):
            part = Shelf(self._read, self._files, self._rows[index])
            part.memory_bytes = self.memory_bytes
            return part
        with self._lock:
            if index in self._kept:
                self._kept.move_to_end(index)
                return self._kept[index]
        task = self._load(self._rows[index])
        with self._lock:
            self._kept[index] = task
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return task

    @cached_property
    def _places(self) -> dict[str, int]:
        return {task_id: place for place, task_id in enumerate(self.ids)}

    def _load(self, row: "Row") -> Task:
        line = row.line
        offset, length = line.place or (0, 0)
        with boundary(InputError, f"cannot read {line.file}"):
            text = os.pread(self._files[line.file].fileno(), length, offset)
        task = self._read(line._replace(text=text.strip()))
        if task.sha256 != row.sha256:
            raise line.error("the file has changed since it was read first")
        return task

    def _opened(self, line: Line) -> IO[bytes]:
        """Return where the rows of a line's file are read from."""
        return self._spool if self._spool and line.place is None else line.file.open("rb")

    def _spooled(self, text: bytes) -> tuple[int, int]:
        if self._spool is None:
            self._spool = tempfile.TemporaryFile(prefix="proctor-")  # noqa: SIM115
        offset = self._spool.tell()
        self._spool.write(text)
        self._spool.flush()
        return offset, len(text)
