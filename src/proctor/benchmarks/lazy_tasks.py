"""Tasks that are too large for memory: each is read again from its file when it is needed.

Only the id, the digest and the place of a task are held in memory. Rows of a file that is not
seekable, such as a compressed one, are copied to a temporary file.
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
"""Maximum size of rows held in memory; larger files are indexed."""
KEPT = 256
"""Size of the cache of tasks that were read last."""


class LazyTasks:
    """Collects tasks: in a list while they are small enough, then by an index of their file."""

    def __init__(self, read: Callable[[Line], Task]) -> None:
        self._read = read
        self._held: list[tuple[Line, Task]] = []
        self._bytes = 0
        self._indexed: IndexedTasks | None = None

    def add(self, line: Line, task: Task) -> None:
        """Add a task."""
        if self._indexed is not None:
            self._indexed.add(line, task)
            return
        self._held.append((line, task))
        self._bytes += len(line.text)
        if self._bytes > HELD_BYTES:
            self._indexed = IndexedTasks(self._read)
            for held in self._held:
                self._indexed.add(*held)
            self._held.clear()

    @property
    def all(self) -> Sequence[Task]:
        """All tasks in order."""
        return [task for _, task in self._held] if self._indexed is None else self._indexed


class Row(NamedTuple):
    """A task in the index: its line without the text, its id, its digest."""

    line: Line
    task_id: str
    sha256: str


class IndexedTasks(Sequence[Task]):
    """A sequence of tasks that reads each from its file when it is used."""

    def __init__(
        self,
        read: Callable[[Line], Task],
        files: "dict[Path, IO[bytes]] | None" = None,
        rows: "Sequence[Row]" = (),
    ) -> None:
        """Index rows of some files; `read` makes a task of a row."""
        self._read = read
        self._files = {} if files is None else files
        self._rows = list(rows)
        self._spool: IO[bytes] | None = None
        self._kept: OrderedDict[int, Task] = OrderedDict()
        self._lock = threading.Lock()
        self.memory_bytes = 0

    def add(self, line: Line, task: Task) -> None:
        """Append a task."""
        with boundary(HostError, "cannot keep tasks in a temporary file"):
            place = line.place or self._spooled(line.text)
            if line.file not in self._files:
                self._files[line.file] = self._opened(line)
        self._rows.append(Row(line._replace(text=b"", place=place), task.task_id, task.sha256))
        self.memory_bytes = max(self.memory_bytes, task.limits.memory_bytes)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all tasks in order."""
        return [row.task_id for row in self._rows]

    @property
    def digests(self) -> Sequence[str]:
        """The digests of all tasks in order."""
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
            part = IndexedTasks(self._read, self._files, self._rows[index])
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
        """Open the file that holds a line: its own or the temporary one."""
        return self._spool if self._spool and line.place is None else line.file.open("rb")

    def _spooled(self, text: bytes) -> tuple[int, int]:
        if self._spool is None:
            self._spool = tempfile.TemporaryFile(prefix="proctor-")  # noqa: SIM115
        offset = self._spool.tell()
        self._spool.write(text)
        self._spool.flush()
        return offset, len(text)
