"""Rows as HumanEval has them: a prompt to continue and a `check` function."""

from collections.abc import Iterable

import msgspec

from proctor.lines import Line
from proctor.task import CheckFunction, Task


class Row(msgspec.Struct, kw_only=True):
    """One line of HumanEval.jsonl, or of a file in its format."""

    task_id: str
    prompt: str
    entry_point: str
    test: str
    canonical_solution: str | None = None


def load(lines: Iterable[Line]) -> list[Task]:
    """Read tasks."""
    return [_task(line.decode(Row)) for line in lines]


def _task(row: Row) -> Task:
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        entry_point=row.entry_point,
        tests=CheckFunction(code=row.test),
        canonical_solution=row.canonical_solution,
    )
