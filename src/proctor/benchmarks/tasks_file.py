"""Tasks files: one task a line, in the format of the reference documentation."""

from collections.abc import Iterable
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.extraction.syntax import parse
from proctor.lines import Line
from proctor.sandbox import Limits
from proctor.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Metadata,
    StdinCases,
    Task,
    Tests,
)

MAX_TIMEOUT = 30.0


class Row(msgspec.Struct, kw_only=True):
    """One line of a tasks file."""

    task_id: str
    tests: Tests
    prompt: str = ""
    entry_point: str | None = None
    language: str = "python"
    metadata: Metadata = Metadata()
    canonical_solution: str | None = None
    schema: int = 1


def load(lines: Iterable[Line]) -> list[Task]:
    """Read tasks and refuse what could never be judged."""
    return [_task(line, line.decode(Row)) for line in lines]


def _task(line: Line, row: Row) -> Task:
    try:
        return as_task(row)
    except InputError as error:
        raise line.error(str(error)) from None


def as_task(row: Row) -> Task:
    """Turn a row into a task, or say what is wrong with it."""
    trouble = _trouble(row)
    if trouble is not None:
        raise InputError(trouble)
    seconds = row.metadata.timeout_s
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        entry_point=row.entry_point,
        tests=row.tests,
        language=row.language,
        metadata=row.metadata,
        canonical_solution=row.canonical_solution,
        limits=Limits() if seconds is None else Limits().with_seconds(seconds),
    )


def _trouble(row: Row) -> str | None:
    """Say what is wrong with a task, naming the field."""
    seconds = row.metadata.timeout_s
    if seconds is not None and not 0 < seconds <= MAX_TIMEOUT:
        return f"metadata.timeout_s is {seconds:g}; it must be above 0 and at most {MAX_TIMEOUT:g}"
    if row.language != "python":
        return f"language is {row.language!r}; this version knows python"
    if row.schema != 1:
        return f"schema is {row.schema}; this version knows 1"
    if row.tests.setup and parse(row.tests.setup) is None:
        return "tests.setup is not Python"
    match row.tests:
        case Assertions(targets=targets, compare=compare):
            return _no_compare(compare) or _bad_targets(targets)
        case CheckFunction(code=code, compare=compare):
            if row.entry_point is None:
                return "entry_point is missing, and tests of kind check need it"
            return _no_compare(compare) or (None if parse(code) else "tests.code is not Python")
        case CallCases(inputs=inputs, outputs=outputs, kwargs=kwargs):
            return _uneven(inputs, outputs, kwargs)
        case StdinCases(inputs=inputs, outputs=outputs):
            return _uneven(inputs, outputs, None)
    return None


def _no_compare(compare: Any) -> str | None:
    if compare is None:
        return None
    return "tests.compare has no meaning here: assertions compare by themselves"


def _bad_targets(targets: Any) -> str | None:
    if not targets:
        return "tests.targets is empty"
    for index, target in enumerate(targets):
        if not target.strip() or parse(target.strip()) is None:
            return f"tests.targets[{index}] is not Python"
    return None


def _uneven(inputs: Any, outputs: Any, kwargs: Any) -> str | None:
    if not inputs:
        return "tests.inputs is empty"
    if len(inputs) != len(outputs):
        return f"tests has {len(inputs)} inputs but {len(outputs)} outputs"
    if kwargs is not None and len(kwargs) != len(inputs):
        return f"tests has {len(inputs)} inputs but {len(kwargs)} kwargs"
    return None
