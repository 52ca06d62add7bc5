"""Rows as HumanEval has them: a prompt to continue and a `check` function."""

import msgspec

from proctor.benchmarks.tasks_file import is_expression
from proctor.extraction.python.syntax import bound_names, parse
from proctor.records.task import CheckFunction, Task
from proctor.storage.jsonl import Line, shorten


class Row(msgspec.Struct, kw_only=True):
    """One line of HumanEval.jsonl, or of a file in its format."""

    task_id: str
    prompt: str
    entry_point: str
    test: str
    canonical_solution: str | None = None


def read(line: Line) -> Task:
    """Read one task."""
    row = line.decode(Row)
    tests = parse(row.test)
    if tests is None or "check" not in bound_names(tests):
        raise line.error("field test is not Python that defines check(candidate)")
    if not is_expression(row.entry_point):
        raise line.error(f"field entry_point: {shorten(row.entry_point)} names no function")
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        entry_point=row.entry_point,
        tests=CheckFunction(code=row.test),
        canonical_solution=row.canonical_solution,
    )
