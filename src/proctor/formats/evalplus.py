"""EvalPlus: samples as JSONL or as a folder for every task, and its results.

Its results are one object: for every task a list of samples with the status of the base inputs
and of those that EvalPlus adds. Its own `evaluate` loads such a file instead of running anything,
if it lies beside the samples and is named after them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, boundary
from proctor.formats.record import Record
from proctor.storage.jsonl import ODD, Line, explain_error, is_folder, read_whole

RESULTS = "_eval_results.json"
STATUS = {"pass": "pass", "timeout": "timeout"}


class Results(msgspec.Struct):
    """The object that a file of results is."""

    eval: dict[str, list[msgspec.Raw]]


def read_folder(path: Path) -> Iterator[tuple[Line, Any]]:
    """Read `HumanEval_0/0.py` and so on."""
    for folder in filter(is_folder, sorted(inside(path))):
        files = [file for file in inside(folder) if file.suffix == ".py"]
        for file in sorted(files, key=lambda file: (len(file.stem), file.stem)):
            line = Line(file, 1, read_whole(file))
            try:
                solution = line.text.decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{file}: {explain_error(error)}") from None
            yield line, {"task_id": folder.name.replace("_", "/", 1), "solution": solution}


def inside(folder: Path) -> list[Path]:
    """Return what is in a folder."""
    with boundary(InputError, f"cannot read {folder}"):
        return list(folder.iterdir())


def results(whole: Line) -> Iterator[tuple[Line, Any]] | None:
    """Return the samples of a file of results as rows, None if it is something else."""
    if b'"eval"' not in whole.text:
        return None
    if ODD.search(whole.text):
        found = whole.decode(dict[str, Any])["eval"]
        texts = {name: [json.dumps(one).encode() for one in rows] for name, rows in found.items()}
    else:
        raw = whole.decode(Results).eval
        texts = {name: [bytes(one) for one in rows] for name, rows in raw.items()}
    return _rows(whole.file, texts)


def _rows(file: Path, texts: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Line, Any]]:
    number = 0
    for task_id, samples in texts.items():
        for text in samples:
            number += 1
            line = Line(file, number, text, "result")
            row = line.decode(dict[str, Any])
            kept = {name: row[name] for name in row if not name.endswith("_fail_tests")}
            yield line, {"task_id": task_id, **kept}


def write_samples(record: Record) -> str:
    """Return a sample as a line of JSONL."""
    return json.dumps({"task_id": record.task_id, "solution": record.solution}) + "\n"


def write_folder(record: Record, folder: Path) -> None:
    """Write a sample as a file of its own."""
    below = folder / record.file_name
    below.mkdir(exist_ok=True)
    text = record.solution.encode("utf-8", "surrogatepass")
    (below / f"{record.sample}.py").write_bytes(text)


def write_results(
    tasks: Iterable[Sequence[Record]], head: Mapping[str, Any], figures: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of a file of results; `head` and `figures` are what stands around them."""
    yield "{" + "".join(f"{json.dumps(name)}: {json.dumps(head[name])}, " for name in head)
    yield '"eval": {'
    for place, records in enumerate(tasks):
        rows = [_result(record) for record in records]
        yield f"{', ' if place else ''}{json.dumps(records[0].task_id)}: {json.dumps(rows)}"
    yield f'}}, "pass_at_k": {json.dumps(figures)}}}'


def _result(record: Record) -> dict[str, Any]:
    base = record.groups.get("base", record.outcome)
    plus = record.groups.get("plus")
    return {
        "task_id": record.task_id,
        "solution": record.solution,
        "base_status": STATUS.get(base or "", "fail"),
        "plus_status": None if plus is None else STATUS.get(plus, "fail"),
        "base_fail_tests": record.failed.get("base", []),
        "plus_fail_tests": record.failed.get("plus", []),
    }
