"""LiveCodeBench's outputs and results: all programs for a question, and whether each is right.

Such a file is what its custom evaluator takes (`question_id`, `code_list`), and with `graded_list`
what its scores are computed from.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.formats.record import Record
from proctor.storage.jsonl import Line


def samples(line: Line, row: dict[str, Any]) -> Iterator[tuple[Line, Any]]:
    """Yield every program of a question as a row."""
    if "question_id" not in row:
        raise line.error("field question_id is missing")
    programs = _checked(line, row, "code_list", str, "a string")
    graded = _checked(line, row, "graded_list", bool, "a boolean") if "graded_list" in row else None
    if graded is not None and len(graded) != len(programs):
        raise line.error(f"graded_list has {len(graded)} items, code_list {len(programs)}")
    for number, text in enumerate(programs):
        found = {} if graded is None else {"passed": graded[number]}
        yield line, {"task_id": row["question_id"], "solution": text, **found}


def _checked(line: Line, row: dict[str, Any], field: str, kind: type, what: str) -> list[Any]:
    found = row[field]
    if not isinstance(found, list):
        raise line.error(f"field {field} must be an array")
    for number, item in enumerate(found):
        if not isinstance(item, kind):
            raise line.error(f"field {field}[{number}] must be {what}")
    return found


def write(tasks: Iterable[Sequence[Record]]) -> Iterator[str]:
    """Yield the text of a file of outputs, with verdicts if there are any."""
    yield "["
    for place, records in enumerate(tasks):
        programs = [record.solution for record in records]
        question: dict[str, Any] = {
            "question_id": records[0].task_id,
            "output_list": [record.completion or record.solution for record in records],
            "code_list": programs,
        }
        if all(record.passed is not None for record in records):
            graded = [bool(record.passed) for record in records]
            question |= {"graded_list": graded, "pass@1": graded.count(True) / len(graded)}
            question["metadata"] = [json.dumps({"bucket": record.bucket}) for record in records]
        yield (",\n" if place else "\n") + json.dumps(question)
    yield "\n]\n"
