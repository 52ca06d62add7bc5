"""HumanEval+ and MBPP+: one family with one format, many inputs and a reference solution.

`base_input` holds the inputs of the original benchmark, `plus_input` those that EvalPlus adds.
Answers are compared with those of the reference, with `atol` for floats. Details and differences:

    types        inputs get the types that the task's own tests show, see `restore_types.py`; the
                 reference must pass those tests
    sets         order and repetition are ignored where EvalPlus ignores them
    truth        where the tests only check whether an answer is true, so do we; EvalPlus accepts
                 everything but None as true in three of these tasks
    Mbpp/558     numbers of different lengths may be padded with zeros, as there
    HumanEval/32 any root of the polynomial is right, as there, if it is a number
    others       EvalPlus accepts anything (Mbpp/164), zero (Mbpp/295) or an interpretation that the
                 task's own tests contradict (Mbpp/581); we accept what the reference returns
"""

import ast
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import msgspec

from proctor.benchmarks.restore_types import literal_calls, restore_types
from proctor.benchmarks.source import Source
from proctor.benchmarks.tasks_file import is_expression
from proctor.extraction.python.syntax import bound_names, parse
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.task import Assertions, CheckFunction, ReferenceCases, Task
from proctor.storage.jsonl import Line, shorten

URL = "https://github.com/evalplus"
SECONDS = 10.0
PATIENCE = 4.0
MEMORY = 4 * GIB
"""The limit of EvalPlus; the reference of Mbpp/255 needs more than 1 GiB."""
OUTPUT = 8 * MIB
"""One program makes up to a thousand calls, each of which may print."""
UNORDERED = frozenset(f"Mbpp/{number}" for number in (2, 7, 111, 140, 232, 249, 579, 769))
LIMITS = Limits(cpu_seconds=SECONDS, wall_seconds=SECONDS, memory_bytes=MEMORY, output_bytes=OUTPUT)
FIND_ZERO, DIGIT_DISTANCE = "HumanEval/32", "Mbpp/558"


class Row(msgspec.Struct, kw_only=True):
    """One line of HumanEvalPlus.jsonl or MbppPlus.jsonl."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    base_input: list[list[Any]]
    plus_input: list[list[Any]] | dict[str, Any]
    atol: float = 0.0
    assertion: str = ""
    test: str = ""


def read(line: Line) -> Task:
    """Read one task."""
    row = line.decode(Row, constants=True)
    if not is_expression(row.entry_point):
        raise line.error(f"field entry_point: {shorten(row.entry_point)} names no function")
    if not row.base_input:
        raise line.error("field base_input is empty")
    plus: Sequence[list[Any]] = () if isinstance(row.plus_input, dict) else row.plus_input
    tree, name = _tests(line, row)
    try:
        inputs = restore_types(literal_calls(tree, name), [*row.base_input, *plus])
    except TypeError as error:  # a list in a set
        raise line.error(f"an input is not of the type that the tests show: {error}") from None
    cases = ReferenceCases(
        fn_name=row.entry_point,
        inputs=inputs,
        groups={"base": len(row.base_input), "plus": len(plus)},
        accept=_acceptance(row.task_id, tree),
        also=_padded_distances(inputs) if row.task_id == DIGIT_DISTANCE else {},
        tolerance=row.atol if row.task_id == FIND_ZERO else 0.0,
        proof=_proof(row, tree),
        patience=PATIENCE,
        compare=f"evalplus({row.atol or 1e-6})",
    )
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        entry_point=row.entry_point,
        tests=cases,
        canonical_solution=row.canonical_solution,
        limits=LIMITS,
    )


def aliases(task_id: str) -> list[str]:
    """Return other spellings of a task id."""
    number = task_id.removeprefix("Mbpp/")
    return [] if number == task_id else [number, f"MBPP/{number}", f"mbpp/{number}"]


def _tests(line: Line, row: Row) -> tuple[ast.Module, str]:
    """Return the task's own tests and the name by which they call the function."""
    field, text = ("assertion", row.assertion) if row.assertion else ("test", row.test)
    tree = parse(text)
    if tree is None or (not row.assertion and "check" not in bound_names(tree)):
        wanted = "Python" if row.assertion else "Python that defines check(candidate)"
        raise line.error(f"field {field} is not {wanted}")
    return tree, row.entry_point if row.assertion else "candidate"


def _proof(row: Row, tree: ast.Module) -> Assertions | CheckFunction:
    if not row.assertion:
        return CheckFunction(code=row.test)
    asserts = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assert)]
    others = [ast.unparse(node) for node in tree.body if not isinstance(node, ast.Assert)]
    return Assertions(targets=asserts, setup="\n".join(["import math, sys", *others]))


def _acceptance(task_id: str, tree: ast.Module) -> Literal["value", "elements", "truth", "root"]:
    if task_id == FIND_ZERO:
        return "root"
    if task_id in UNORDERED:
        return "elements"
    tests = [node.test for node in tree.body if isinstance(node, ast.Assert)]
    return "truth" if tests and all(map(_asks_for_truth, tests)) else "value"


def _asks_for_truth(test: ast.expr) -> bool:
    """Whether a test is `f(x)` or `not f(x)`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    return isinstance(test, ast.Call) and "isclose" not in ast.unparse(test.func)


def _padded_distances(inputs: Sequence[Sequence[Any]]) -> Mapping[int, int]:
    """Return the sum of the differences of digits, the shorter number padded with zeros."""
    found = {}
    for index, given in enumerate(inputs):
        match given:
            case [int(one), int(other)] if min(one, other) >= 0:
                digits = zip_longest(str(int(one))[::-1], str(int(other))[::-1], fillvalue="0")
                found[index] = sum(abs(int(a) - int(b)) for a, b in digits)
    return found


SOURCES = (
    Source(
        name="humaneval+",
        position=50,
        summary="HumanEval with 80 times as many inputs (Liu et al. 2023), v0.1.10",
        tasks=164,
        file="HumanEvalPlus.jsonl",
        url=f"{URL}/humanevalplus_release/releases/download/v0.1.10/HumanEvalPlus.jsonl.gz",
        licence="Apache-2.0",
        sha256="42526ec0e7d5f3ee0b06d6ced98f8c8bae3d76519151bfb3d36f79010645bd7f",
        read=read,
        cached=(".cache", "evalplus", "HumanEvalPlus-v0.1.10.jsonl"),
    ),
    Source(
        name="mbpp+",
        position=50,
        summary="378 tasks of MBPP with 35 times as many inputs (Liu et al. 2023), v0.2.0",
        tasks=378,
        file="MbppPlus.jsonl",
        url=f"{URL}/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz",
        licence="Apache-2.0",
        sha256="b54e762755248ca411b523c917fa9f93c07b5ff2966bf60b3917b853926a3dad",
        read=read,
        matches=lambda fields: "base_input" in fields,
        alias=aliases,
        cached=(".cache", "evalplus", "MbppPlus-v0.2.0.jsonl"),
    ),
)
