"""Read tasks and answers from the columns of a training set.

One of these columns says how a row is checked; the first that is not empty counts:

| column              | holds                                                                    |
|---------------------|--------------------------------------------------------------------------|
| `task`              | a row of a tasks file                                                    |
| `tests`             | the `tests` of a tasks file, or what `assertions` or `ground_truth` hold |
| `assertions`        | a list of assertions                                                     |
| `inputs`, `outputs` | cases of one function `fn_name`, or without that of a whole program      |
| `ground_truth`      | an object with `inputs`, `outputs` and perhaps `fn_name`; one with       |
|                     | `assert_case`, a list of assertions, or `functional`, code that ends     |
|                     | with `check(…)`; a list of objects with `input` and `output`; or what    |
|                     | `task` or `tests` hold                                                   |
| `task_id`           | the id of a task of the benchmark that the column `benchmark` names      |

Each may be JSON in a text. The columns `entry_point`, `timeout_s` and `canonical_solution` are
read, too. Cases of a function are lists of arguments, or texts with one JSON value a line. The
DeepCoder family writes its rows as objects with `inputs`, `assert_case` or `functional`, or as
lists of cases; solutions to these expect the usual imports in front of them.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from proctor.api import as_task
from proctor.benchmarks import load
from proctor.benchmarks.contest_rows import process_input_output
from proctor.errors import InputError
from proctor.extraction.python.syntax import bound_names, parse
from proctor.grading.prepare import Preamble
from proctor.records.task import Benchmark, Task
from proctor.settings import load_settings
from proctor.storage.jsonl import shorten

SOURCES = ("task", "tests", "assertions", "inputs", "ground_truth", "task_id")
"""Columns that say how a row is checked, by precedence."""
OTHER_COLUMNS = (
    "outputs",
    "fn_name",
    "entry_point",
    "timeout_s",
    "canonical_solution",
    "benchmark",
)
COLUMNS = frozenset((*SOURCES, *OTHER_COLUMNS))
FAMILY = {"assert_case", "functional", "inputs"}
"""An object with one of these is tests as the DeepCoder family writes them."""


class RowTask(NamedTuple):
    """The task of a row, and the imports that its solutions expect."""

    task: Task
    preamble: Preamble = "none"


def task_from_columns(row: Mapping[str, Any], prompt: Any = "") -> RowTask:
    """Return the task of a row; an InputError names the column that is wrong."""
    given = {name: plain(row[name]) for name in COLUMNS if row.get(name) is not None}
    source = next((name for name in SOURCES if name in given), None)
    match source:
        case None:
            raise InputError(f"no column says how to check it; one of {', '.join(SOURCES)} must")
        case "task_id":
            return RowTask(_known_task(given))
        case "inputs":
            value: Any = {name: given.get(name) for name in ("inputs", "outputs")}
        case _:
            value = parsed(source, given[source])
    if isinstance(value, dict) and not {"kind", *FAMILY} & value.keys():
        return RowTask(as_task(_filled(value)))
    tests = _tests(source, value, given)
    checked = entry_of(tests.get("code")) if tests["kind"] == "check" else None
    fields = {
        "task_id": str(given.get("task_id", "row")),
        "prompt": code_prompt(prompt),
        "entry_point": given.get("entry_point") or checked,
        "tests": tests,
        "metadata": {"timeout_s": given.get("timeout_s")},
        "canonical_solution": given.get("canonical_solution"),
    }
    return RowTask(as_task(_filled(fields)), "base" if _of_the_family(value) else "none")


def get_columns(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return benchmark and id of a row that is a task of a benchmark known by name."""
    source = next((name for name in SOURCES if row.get(name) is not None), None)
    named = source == "task_id" and isinstance(row.get("benchmark"), str)
    return (row["benchmark"], str(row["task_id"])) if named else None


def plain(value: Any) -> Any:
    """Return a value with arrays, as Parquet files have them, replaced by lists."""
    match list_of(value):
        case dict() as fields:
            return {key: plain(item) for key, item in fields.items()}
        case list() as items:
            return [plain(item) for item in items]
        case other:
            return other


def list_of(value: Any) -> Any:
    """Convert arrays and tuples to lists; return other values unchanged."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, tuple) else value


def parsed(column: str, value: Any) -> Any:
    """Return the value of a column, decoded from JSON if it is a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{column} is not JSON ({error}): {shorten(value)}") from None


def code_prompt(prompt: Any) -> str:
    """Return the prompt if answers may continue it, else an empty text.

    They cannot continue a conversation, nor a few words that happen to parse as Python.
    """
    if not isinstance(prompt, str):
        return ""
    tree = parse(prompt)
    return prompt if tree is None or bound_names(tree) else ""


def entry_of(code: Any) -> str | None:
    """Return the argument of `check(…)` if that is the last line of test code."""
    tree = parse(code) if isinstance(code, str) else None
    match tree:
        case ast.Module(
            body=[*_, ast.Expr(ast.Call(func=ast.Name("check"), args=[tested], keywords=[]))]
        ):
            return ast.unparse(tested)
    return None


def answer_of(completion: Any) -> str:
    """Return the text of a completion: itself, or that of the assistant's last message."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence):
        raise InputError(f"a completion is {type(completion).__name__}, not text or messages")
    said = [message for message in completion if _field(message, "role") == "assistant"]
    return _text(_field(said[-1], "content")) if said else ""


def _text(content: Any) -> str:
    """Return a message's content, or its parts that are text."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        content = "".join(_text(_field(part, "text")) for part in content)
    return content if isinstance(content, str) else ""


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)


def _filled(record: dict[str, Any]) -> dict[str, Any]:
    """Drop fields without a value: a table gives every row the fields of all others."""
    return {
        name: _filled(value) if name in ("tests", "metadata") and isinstance(value, dict) else value
        for name, value in record.items()
        if value is not None
    }


def _tests(column: str, value: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    match value:
        case {"kind": str()}:
            return _filled(value)
        case {"assert_case": list() as targets}:
            return {"kind": "assertions", "targets": targets}
        case {"functional": str() as code}:
            return {"kind": "check", "code": code}
        case {"inputs": inputs, "outputs": outputs}:
            name = value.get("fn_name") or row.get("fn_name")
            return _cases(column, parsed("inputs", inputs), parsed("outputs", outputs), name)
        case [str(), *_]:
            return {"kind": "assertions", "targets": value}
        case [{"input": _, "output": _}, *_] if all(isinstance(case, dict) for case in value):
            first = value[0].get("metadata")
            name = first.get("func_name") if isinstance(first, dict) else None
            inputs, outputs = ([case.get(side) for case in value] for side in ("input", "output"))
            return _cases(column, inputs, outputs, name or row.get("fn_name"))
    raise InputError(f"{column} holds no tests that are known here: {shorten(value)}")


def _of_the_family(value: Any) -> bool:
    if isinstance(value, dict):
        return "kind" not in value
    return isinstance(value[0], dict)


def _cases(column: str, inputs: Any, outputs: Any, fn_name: Any) -> dict[str, Any]:
    if not (isinstance(inputs, list) and isinstance(outputs, list) and len(inputs) == len(outputs)):
        raise InputError(f"{column}: inputs and outputs must be lists of one length")
    if fn_name is None:
        texts = [[_lines(column, text) for text in side] for side in (inputs, outputs)]
        return {"kind": "stdin", "inputs": texts[0], "outputs": texts[1]}
    calls = [_call(column, *case) for case in zip(inputs, outputs, strict=True)]
    return {
        "kind": "calls",
        "fn_name": fn_name,
        "inputs": [arguments for arguments, _ in calls],
        "outputs": [expected for _, expected in calls],
        "compare": "verl",
    }


def _lines(column: str, value: Any) -> str:
    """Return standard input or output, which may be a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise InputError(
            f"{column}: without fn_name, inputs and outputs are texts, not {shorten(value)}"
        )
    return value


def _call(column: str, arguments: Any, expected: Any) -> tuple[list[Any], Any]:
    """Return the arguments and the value of a call in the format of the DeepCoder family."""
    if isinstance(arguments, str):
        arguments = [parsed(f"{column}: a line of inputs", line) for line in arguments.splitlines()]
        expected = parsed(f"{column}: an output", expected)
    if not isinstance(arguments, list):
        raise InputError(f"{column}: the arguments of a call are a list, not {shorten(arguments)}")
    return process_input_output(arguments, None)[0], expected


def _known_task(given: Mapping[str, Any]) -> Task:
    """Return a task of a benchmark that is known by name."""
    name, task_id = given.get("benchmark"), given["task_id"]
    if not isinstance(name, str):
        raise InputError(f"task_id {shorten(task_id)} is of no benchmark; give `benchmark`")
    benchmark, tasks = _benchmark(name)
    found = tasks.get(benchmark.aliases.get(str(task_id), str(task_id)))
    if found is None:
        raise InputError(f"task_id: {name} has no task {shorten(task_id)}")
    return found


@lru_cache(maxsize=8)
def _benchmark(name: str) -> tuple[Benchmark, dict[str, Task]]:
    folder = load_settings().data
    benchmark = load(name, None, None if folder is None else Path(folder))
    return benchmark, {task.task_id: task for task in benchmark.tasks}
