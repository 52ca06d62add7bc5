"""One sample with all that any format wants to know about it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import InputError

MAX_NAME = 200


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A sample, and what became of it if it was judged."""

    task_id: str
    sample: int
    prompt: str
    entry_point: str | None
    solution: str
    """The whole program; empty if no code was found."""
    completion: str | None = None
    """What the model said, if that is something else."""
    passed: bool | None = None
    """None if it was not judged."""
    outcome: str | None = None
    bucket: str | None = None
    detail: str = ""
    groups: Mapping[str, str] = {}
    """Part of the tests → outcome."""
    failed: Mapping[str, Sequence[Any]] = {}
    """Part of the tests → inputs that it failed on, the first of them."""
    stdout: str = ""
    stderr: str = ""
    timestamp: int = 0

    @property
    def file_name(self) -> str:
        """The task's id as the name of a file or folder."""
        name = self.task_id.replace("/", "_")
        if not re.fullmatch(r"[\w+-][\w.+ -]*", name) or len(name) > MAX_NAME:
            raise InputError(f"task_id {self.task_id!r} cannot be the name of a file")
        return name
