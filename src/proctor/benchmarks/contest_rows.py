"""The shared reader of contest problems: APPS, TACO, CodeContests, Codeforces, DeepCoder.

Each benchmark declares its source in a separate file, such as `apps.py`. Their rows have different
field names but the same content: a problem in words, and tests that are either text for standard
input or arguments for a function `fn_name`:

    {"inputs": […], "outputs": […], "fn_name": …}                 APPS, TACO, CodeContests
    [{"input": …, "output": …, "fn_name": …, "type": …}, …]       Codeforces, PrimeIntellect
    [{…, "testtype": "functional", "metadata": {"func_name": …}}] LiveCodeBench rows of DeepCoder

in `tests`, `input_output` or `verification_info`, as an object or as its text. Published results on
these rows are from at most 15 tests, those with the longest inputs, with 12 s for each of them,
10 GiB of memory, the usual imports in front, and outputs that may be wrapped in a list.
"""

import ast
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from proctor.benchmarks.source import Fields, Read
from proctor.extraction.assemble import BASE_IMPORTS
from proctor.extraction.python.syntax import parse
from proctor.records.limits import GIB, Limits
from proctor.records.task import CallCases, Metadata, StdinCases, Task
from proctor.storage.jsonl import Line, shorten

RLLM = (
    "https://raw.githubusercontent.com/agentica-project/rllm/"
    "874daa4acb7f451dc2a4b2b6e8ce28f5aa88d1f5/rllm/data/test/code"
)
"""Where rLLM keeps the test sets of contests."""
HUGGING_FACE = "https://huggingface.co/datasets"
PROBLEM = ("problem", "question", "prompt", "question_content")
TESTS = ("tests", "input_output", "verification_info", "test_cases")
NAMES = ("task_id", "problem_id", "id", "question_id")
SOLUTION = ("solutions", "solution", "gold_standard_solution")
MAX_TESTS = 15
LIMITS = msgspec.structs.replace(Limits().with_seconds(12.0), memory_bytes=10 * GIB)


class BadRow(ValueError):
    """A field of a row is invalid."""


def reader(name: str) -> Read:
    """Return the reader of a benchmark's rows."""
    return partial(read, name=name)


def read(line: Line, name: str) -> Task:
    """Read one task; if a row has no id, it is numbered by its place in the file, from 0."""
    row = line.decode(dict[str, Any])
    try:
        starter = _text(row, ("starter_code",))
        return Task(
            task_id=task_id(row, name, line.number - 1),
            prompt=question_text(_needed(row, PROBLEM), starter),
            preamble=BASE_IMPORTS,
            tests=tests_of(row),
            canonical_solution=solution_of(row),
            metadata=Metadata(difficulty=_text(row, ("difficulty",)) or None),
            limits=LIMITS,
        )
    except BadRow as error:
        raise line.error(str(error)) from None


def aliases(task_id: str) -> list[str]:
    """Return the bare number of a task that is numbered by its place."""
    return [task_id.rpartition("/")[2]]


def task_id(row: dict[str, Any], name: str, place: int) -> str:
    """Return the id of a row, or its number."""
    found = next((row[field] for field in NAMES if row.get(field) not in (None, "")), place)
    return found if isinstance(found, str) else f"{name}/{found}"


def question_text(problem: str, starter: str) -> str:
    """Return a problem, with the starter code that an answer must begin with."""
    if not starter.strip() or starter.strip() in problem:
        return problem
    return f"{problem.rstrip()}\n\nBegin with this code:\n\n```python\n{starter.rstrip()}\n```\n"


def solution_of(row: dict[str, Any]) -> str | None:
    """Return the first solution of a row, if any."""
    found = next((row[field] for field in SOLUTION if row.get(field)), None)
    if isinstance(found, str) and found.lstrip().startswith("["):
        found = _parsed("solutions", found)
    if isinstance(found, list):
        found = next((one for one in found if isinstance(one, str)), None)
    return found if isinstance(found, str) else None


def tests_of(row: dict[str, Any]) -> CallCases | StdinCases:
    """Return the tests of a row, in any of the three forms."""
    field = next((field for field in TESTS if row.get(field) is not None), None)
    if field is None:
        raise BadRow(f"there is no field {', '.join(TESTS[:-1])} or {TESTS[-1]}")
    found = row[field]
    if isinstance(found, str):
        found = _parsed(field, found)
    if isinstance(found, dict) and "test_cases" in found:
        field, found = f"{field}.test_cases", found["test_cases"]
    match found:
        case {"inputs": [*inputs], "outputs": [*outputs]}:
            return _cases(field, inputs, outputs, found.get("fn_name"))
        case [*tests] if all(isinstance(test, dict) for test in tests):
            return listed_tests(field, tests)
    raise BadRow(f"field {field} has neither inputs and outputs nor a list of tests")


def listed_tests(
    field: str, tests: Sequence[dict[str, Any]], function: Any = None
) -> CallCases | StdinCases:
    """Return tests from a list; all of them call one function, or none does."""
    functions = {_function_of(field, test, function) for test in tests}
    if len(functions) > 1:
        raise BadRow(f"field {field} has tests of several functions")
    for index, test in enumerate(tests):
        for name in ("input", "output"):
            if name not in test:
                raise BadRow(f"field {field}[{index}].{name} is missing")
    inputs, outputs = [t["input"] for t in tests], [t["output"] for t in tests]
    return _cases(field, inputs, outputs, functions.pop() if functions else None)


def _function_of(field: str, test: dict[str, Any], usual: Any) -> Any:
    if test.get("testtype") == "stdin" or test.get("type") == "stdin_stdout":
        return None
    about = test.get("metadata")
    named = about.get("func_name") if isinstance(about, dict) else None
    functional = test.get("testtype") == "functional" or test.get("type") == "function_call"
    name = test.get("fn_name") or named or (usual if functional else None)
    if functional and not name:
        raise BadRow(f"field {field} has tests of a function, but it is not named")
    return json.dumps(name) if isinstance(name, list | dict) else name


def _cases(
    field: str, inputs: list[Any], outputs: list[Any], function: Any
) -> CallCases | StdinCases:
    if not inputs or len(inputs) != len(outputs):
        raise BadRow(f"field {field} has {len(inputs)} inputs and {len(outputs)} outputs")
    if not function:
        return StdinCases(
            inputs=[_as_text(f"{field}.inputs[{i}]", one) for i, one in enumerate(inputs)],
            outputs=[_as_text(f"{field}.outputs[{i}]", one) for i, one in enumerate(outputs)],
            max_tests=MAX_TESTS,
        )
    if not (isinstance(function, str) and function.isidentifier()):
        raise BadRow(f"field {field}: {shorten(function)} names no function")
    pairs = zip(inputs, outputs, strict=True)
    calls = [_call(field, index, *pair) for index, pair in enumerate(pairs)]
    return CallCases(
        fn_name=function,
        inputs=[arguments for arguments, _ in calls],
        outputs=[output for _, output in calls],
        compare="verl",
        max_tests=MAX_TESTS,
    )


def _call(field: str, index: int, given: Any, output: Any) -> tuple[list[Any], Any]:
    """Return the arguments and the value of one call, which may be lines of JSON."""
    if isinstance(given, str):
        where = f"{field}.inputs[{index}]"
        given = [_json(where, text) for text in given.split("\n") if text.strip()]
        output = _json(f"{field}.outputs[{index}]", output) if isinstance(output, str) else output
    elif not isinstance(given, list):
        given = [given]
    arguments, _ = process_input_output(given, None)
    return arguments, output


def _as_text(where: str, value: Any) -> str:
    """Return standard input or output; a list is joined as lines."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise BadRow(f"field {where} must be text, not {shorten(value)}")
    return value


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadRow(f"field {where} is not JSON, one value a line: {shorten(text)}") from None


def _parsed(field: str, text: str) -> Any:
    """Parse a field that holds the text of a value, in JSON or as Python writes it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(parse(text.strip()).body[0].value)  # type: ignore[union-attr]
    except (ValueError, AttributeError, IndexError, RecursionError, MemoryError, TypeError):
        raise BadRow(
            f"field {field} is neither JSON nor a Python literal: {shorten(text)}"
        ) from None


def _needed(row: dict[str, Any], fields: Sequence[str]) -> str:
    text = _text(row, fields)
    if not text.strip():
        raise BadRow(f"there is no field {', '.join(fields[:-1])} or {fields[-1]}")
    return text


def _text(row: dict[str, Any], fields: Sequence[str]) -> str:
    field = next((field for field in fields if row.get(field) is not None), None)
    found = "" if field is None else row[field]
    if not isinstance(found, str):
        raise BadRow(f"field {field} must be text, not {shorten(found)}")
    return found


def process_input_output(inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """Restore integer keys that JSON turned into strings: of a dict, or of dicts in a list.

    A dict with any key that is not an integer is left as it is. So is every other value, and a
    list that does not begin with a dict.
    """
    return _restore_keys(inputs), _restore_keys(outputs)


def _restore_keys(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_integer_keys(item) for item in value]
    return _integer_keys(value)


def _integer_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return {int(key): item for key, item in value.items()}
    except (TypeError, ValueError):
        return value


def is_contest_row(fields: Fields) -> bool:
    """Return True if a row has the fields of a contest problem."""
    match fields:
        case {"tests": {"functional": _}} | {"test": _, "starter_code": _}:
            return False  # LeetCode problems, which may have our fields as well
    return not fields.keys().isdisjoint(("tests", "input_output", "verification_info"))
