"""Completions that were recorded earlier, by us or by another tool.

A samples file has one JSON object a line, or is one array of them: `completion` is what a model
said and goes through extraction, `solution` is a program to be run exactly as written. What other
tools write (`proctor.formats`) is read, too. Fields we do not know are kept.
"""

from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from proctor.formats import read
from proctor.records.completion import Completion, Sampling, StopReason
from proctor.records.encoding import spelt_out
from proctor.records.task import Benchmark
from proctor.storage.jsonl import Line, shorten

LENGTH = ("length", "max_tokens", "max_length")
KNOWN = ("task_id", "whole", "stop", "finish_reason", "schema")


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of an answer beside its text, where the file says it in our words."""

    prompt_sha256: str | None = None
    seed: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    used_gpu: bool | None = None


class Sample(NamedTuple):
    """One row of a samples file."""

    line: Line
    row: dict[str, Any]
    task_id: str


class RecordedSamples:
    """Answers with what a file says."""

    def __init__(self, path: Path, solution_field: str | None = None) -> None:
        self._path = path
        self._solution_field = solution_field
        self.name = f"recorded:{spelt_out(path.name)}"

    def samples(self, benchmark: Benchmark) -> Iterator[Sample]:
        """Yield every row with the id that the benchmark has for its task."""
        ids = benchmark.ids
        known = set(ids)
        for line, row in read(self._path, ids, more=bool(benchmark.beyond)):
            if "task_id" not in row:
                raise line.error("field task_id is missing")
            written = row["task_id"]
            if not isinstance(written, str | int) or isinstance(written, bool):
                raise line.error(f"field task_id must be a string, not {_kind(written)}")
            task_id = benchmark.aliases.get(str(written), str(written))
            if task_id in benchmark.beyond:
                continue
            if task_id not in known:
                raise line.error(f"task_id {shorten(written)} is not a task of {benchmark.name}")
            yield Sample(line, row, task_id)

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Yield all recorded completions; how many of a task there are is the file's business."""
        del sampling
        places = {task_id: place for place, task_id in enumerate(benchmark.ids)}
        counts: Counter[str] = Counter()
        for line, row, task_id in self.samples(benchmark):
            field, whole = self._field(line, row)
            rest = {name: row[name] for name in row if name != field and name not in KNOWN}
            facts = _facts(rest) if rest else {}
            number = counts[task_id]
            counts[task_id] += 1
            yield Completion(
                task_id=task_id,
                sample=number,
                id=f"{places[task_id]}_s{number}",
                completion=row[field],
                whole=whole,
                stop=_stop(row),
                model=self.name,
                more=_more(rest, facts) if rest else {},
                **facts,
            )

    def _field(self, line: Line, row: dict[str, Any]) -> tuple[str, bool]:
        """Return which field a row's text is in and whether it is a program as it stands."""
        named = self._solution_field
        if named is not None and named not in row:
            raise line.error(f"field {named}, which --solution-field names, is missing")
        for field, whole in ((named, True), ("completion", False), ("solution", True)):
            if field is None or field not in row:
                continue
            if not isinstance(row[field], str):
                raise line.error(f"field {field} must be a string, not {_kind(row[field])}")
            return field, whole or row.get("whole") is True
        raise line.error("there is neither a field completion nor a field solution")


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row says in our words; what only looks like it is kept as it is."""
    try:
        return msgspec.to_builtins(msgspec.convert(row, Facts))  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        return {}


def _more(row: dict[str, Any], known: Container[str]) -> dict[str, Any]:
    """Return all other fields; what we wrote as `more` ourselves is among them."""
    kept = {name: value for name, value in row.items() if name not in known}
    if isinstance(kept.get("more"), dict):
        kept |= kept.pop("more")
    return kept


def _stop(row: dict[str, Any]) -> StopReason:
    if row.get("stop") == StopReason.ERROR:  # as we write it
        return StopReason.ERROR
    said = row.get("stop", row.get("finish_reason"))
    return StopReason.LENGTH if said in LENGTH else StopReason.STOP


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", list: "an array"}
    return "null" if value is None else names.get(type(value), "an object")
