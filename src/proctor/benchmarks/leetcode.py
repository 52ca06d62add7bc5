"""Rows of LeetCode problems: methods of a class `Solution`, tested by `check(candidate)`.

Two publishers' formats are read. LeetCodeDataset has everything under a name of its own; the rows
of rLLM have the whole test in `tests.functional`, the call of `check` included, and no ids, so
that a task is called by its place in the file. Their solutions rely on imports that the
publishers' harnesses put in front; so do ours, by the task's preamble. A task has up to hundreds of
tests, all of them under one limit, and its reference solution may take half a minute for them.
"""

import ast
from datetime import date
from typing import Any

import msgspec

from proctor.benchmarks.contest_rows import RLLM, aliases, question_text
from proctor.benchmarks.source import Fields, Source
from proctor.benchmarks.tasks_file import is_expression
from proctor.extraction.assemble import BASE_IMPORTS
from proctor.extraction.python.syntax import bound_names, parse
from proctor.records.limits import Limits
from proctor.records.task import CheckFunction, Metadata, Task
from proctor.storage.jsonl import Line, shorten

SECONDS = 60.0
NO_CHECK = "is not Python that defines check(candidate)"


class Row(msgspec.Struct, kw_only=True):
    """One line of LeetCodeDataset."""

    task_id: str
    prompt: str
    entry_point: str
    test: str
    query: str = ""
    problem_description: str = ""
    starter_code: str = ""
    completion: str | None = None
    difficulty: str | None = None
    tags: list[str] = []
    estimated_date: str | None = None


class Functional(msgspec.Struct, kw_only=True):
    """The tests of a row of rLLM."""

    functional: str


class PlainRow(msgspec.Struct, kw_only=True):
    """One row of rLLM."""

    problem: str
    tests: Functional
    solutions: str | None = None


def read(line: Line) -> Task:
    """Read one task in either format."""
    fields = line.decode(dict[str, Any])
    return _plain(line) if "tests" in fields else _published(line)


def _published(line: Line) -> Task:
    row = line.decode(Row)
    if not is_expression(row.entry_point):
        raise line.error(f"field entry_point: {shorten(row.entry_point)} names no function")
    if parse(row.prompt) is None:
        raise line.error("field prompt is not Python")
    tree = parse(row.test)
    if tree is None or "check" not in bound_names(tree):
        raise line.error(f"field test {NO_CHECK}")
    try:
        day = row.estimated_date and date.fromisoformat(row.estimated_date).isoformat()
    except ValueError:
        raise line.error(
            f"field estimated_date must be as 2024-08-31, not {shorten(row.estimated_date)}"
        ) from None
    return Task(
        task_id=row.task_id,
        prompt=row.query or question_text(row.problem_description, row.starter_code),
        preamble=row.prompt,
        entry_point=row.entry_point,
        tests=CheckFunction(code=row.test),
        canonical_solution=row.completion,
        metadata=Metadata(difficulty=row.difficulty, tags=row.tags, date=day),
        limits=Limits().with_seconds(SECONDS),
    )


def _plain(line: Line) -> Task:
    row = line.decode(PlainRow)
    code, entry_point = _check_and_call(row.tests.functional)
    if code is None or entry_point is None:
        raise line.error(f"field tests.functional {NO_CHECK} and calls it")
    return Task(
        task_id=f"leetcode/{line.number - 1}",
        prompt=row.problem,
        preamble=BASE_IMPORTS,
        entry_point=entry_point,
        tests=CheckFunction(code=code),
        canonical_solution=row.solutions,
        limits=Limits().with_seconds(SECONDS),
    )


def _check_and_call(text: str) -> tuple[str | None, str | None]:
    """Take test code apart: what defines `check`, and what it is called with at the end."""
    tree = parse(text)
    match tree:
        case ast.Module(body=[*_, ast.Expr(value=ast.Call(func=ast.Name("check"), args=[entry]))]):
            last = tree.body[-1]
            code = "\n".join(text.split("\n")[: last.lineno - 1])
            return code if "check" in bound_names(*tree.body[:-1]) else None, ast.unparse(entry)
    return None, None


def _has_functional_tests(fields: Fields) -> bool:
    return "functional" in fields["tests"] if isinstance(fields.get("tests"), dict) else False


SOURCES = (
    Source(
        name="leetcode",
        position=60,
        summary="methods of LeetCode's newest problems (Xia et al. 2025), v0.3.1 test",
        tasks=228,
        file="LeetCodeDataset-v0.3.1-test.jsonl",
        url=(
            "https://raw.githubusercontent.com/newfacade/LeetCodeDataset/"
            "9477c14d76dcbdef67d70f0e258ad2c2d4178fec/data/LeetCodeDataset-v0.3.1-test.jsonl.gz"
        ),
        licence="MIT",
        sha256="aec951945feb555b4c72783519452a7a0437ca8c6e5624a83d0ae888718fa4ed",
        read=read,
        matches=lambda fields: {"test", "starter_code"} <= fields.keys(),
        libraries=("sortedcontainers",),
    ),
    Source(
        name="contests-leetcode",
        position=60,
        summary="LeetCode problems as rLLM tests with them (DeepCoder, 2025)",
        tasks=200,
        file="leetcode.json",
        url=f"{RLLM}/leetcode.json",
        licence="MIT",
        sha256="a0664eee5e7356af13a01932bbe625bb8a0c15f067f5a964bc96f45ba439e66c",
        read=read,
        matches=_has_functional_tests,
        alias=aliases,
        libraries=("sortedcontainers",),
    ),
)
