"""MultiPL-E's files: one problem each, `completions` before they were run and `results` after.

A result's program is the prompt, what the model said and the tests; the tests do not belong to the
sample and are left off.
"""

import gzip
import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.formats.evalplus import inside
from proctor.formats.record import Record
from proctor.storage.jsonl import Line, shorten

SUFFIXES = (".results.json.gz", ".results.json")
COMPLETIONS = (".json.gz", ".json")
NUMBERED = re.compile(r"([A-Za-z]+)_(\d+)_")


def files(folder: Path) -> list[Path]:
    """Return the files of results in a folder, else those of completions, if it holds any."""
    there = sorted(inside(folder))
    results = [path for path in there if path.name.endswith(SUFFIXES)]
    if results or any(path.is_dir() for path in there):
        return results
    return [path for path in there if path.name.endswith(COMPLETIONS)]


def samples(line: Line, row: dict[str, Any], ids: Collection[str]) -> Iterator[tuple[Line, Any]]:
    """Yield every sample of a problem as a row."""
    task_id = _task_id(line, row["name"], ids)
    if "results" not in row:
        prompt = _text(line, row, "prompt", "")
        for number, text in enumerate(_list(line, row, "completions")):
            if not isinstance(text, str):
                raise line.error(f"field completions[{number}] must be a string")
            yield line, {"task_id": task_id, "solution": prompt + text}
        return
    tests = _text(line, row, "tests", "")
    for number, result in enumerate(_list(line, row, "results")):
        where = f"field results[{number}]"
        if not isinstance(result, dict):
            raise line.error(f"{where} must be an object")
        program = _text(line, result, "program", f"{where}.")
        status = _text(line, result, "status", f"{where}.")
        yield (
            line,
            {
                "task_id": task_id,
                "solution": program.removesuffix("\n" + tests) if tests else program,
                "passed": status == "OK" and result.get("exit_code") == 0,
                "status": status,
            },
        )


def _task_id(line: Line, name: Any, ids: Collection[str]) -> str:
    """Return the task that a problem is: `HumanEval_0_has_close_elements` is `HumanEval/0`."""
    if not isinstance(name, str):
        raise line.error("field name must be a string")
    found = NUMBERED.match(name)
    if name in ids or found is None:
        return name
    family = "MBPP" if found[1].lower() == "mbpp" else found[1]
    return f"{family}/{found[2]}"


def _list(line: Line, row: dict[str, Any], field: str) -> list[Any]:
    found = row[field]
    if not isinstance(found, list):
        raise line.error(f"field {field} must be an array")
    return found


def _text(line: Line, row: dict[str, Any], field: str, where: str) -> str:
    text = row.get(field, "" if field in ("prompt", "tests") else None)
    if not isinstance(text, str):
        what = "is missing" if field not in row else f"must be a string, not {shorten(text)}"
        raise line.error(f"{where}{field} {what}" if where else f"field {field} {what}")
    return text


def write(task: Sequence[Record], folder: Path) -> None:
    """Write one problem's results."""
    first = task[0]
    name = f"{first.file_name}_{re.sub(r'[^A-Za-z0-9]+', '_', first.entry_point or 'main')}"
    results = [
        {
            "program": record.solution,
            "timestamp": record.timestamp,
            "stdout": record.stdout,
            "stderr": record.stderr or record.detail,
            "exit_code": 0 if record.passed else 1,
            "status": _status(record),
        }
        for record in task
    ]
    problem = {"name": name, "language": "py", "prompt": first.prompt, "results": results}
    with gzip.open(folder / f"{name}{SUFFIXES[0]}", "wt", encoding="utf-8") as file:
        json.dump(problem, file, indent=2)


def _status(record: Record) -> str:
    words = {"pass": "OK", "timeout": "Timeout", "syntax_error": "SyntaxError"}
    return words.get(record.outcome or "", "Exception")
