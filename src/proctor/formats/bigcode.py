"""Generations of the bigcode evaluation harness: a list of programs for every task, in order.

They are whole programs, the prompt included; which task is which, only the order tells.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.formats.record import Record
from proctor.storage.jsonl import Line, read_lines


def read(path: Path, ids: Sequence[str], *, more: bool) -> Iterator[tuple[Line, Any]]:
    """Yield every generation as a row."""
    for place, line in enumerate(read_lines(path)):
        generations = line.decode(list[Any])
        if place >= len(ids):
            if more:
                return
            raise line.error(f"the benchmark has only {len(ids)} tasks")
        for number, text in enumerate(generations):
            if not isinstance(text, str):
                raise line.error(f"item {number} must be a string")
            yield line, {"task_id": ids[place], "solution": text}


def write(tasks: Iterable[Sequence[Record]]) -> Iterator[str]:
    """Yield the text of a file of generations."""
    yield "["
    for place, records in enumerate(tasks):
        texts = [record.solution for record in records]
        yield (",\n" if place else "\n") + json.dumps(texts)
    yield "\n]\n"
