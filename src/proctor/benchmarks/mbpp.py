"""MBPP and its sanitized subset, one family with one format: a sentence and three assertions.

The tests are `test_list`, which published results use. Set-up code runs after the solution, because
some of it uses names that the solution defines. The limit is 10 s because the reference of task 123
takes seconds.
"""

import ast
from collections.abc import Sequence

import msgspec

from proctor.benchmarks.source import Declaration, Source
from proctor.benchmarks.tasks_file import bad_targets
from proctor.extraction.python.syntax import parse
from proctor.records.limits import Limits
from proctor.records.task import Assertions, Task
from proctor.storage.jsonl import Line

URL = "https://raw.githubusercontent.com/google-research/google-research/master/mbpp"
SECONDS = 10.0
KNOWN = Declaration(
    known={
        "lazy": {
            "MBPP/404": "the first of two numbers is the smaller one in all of its tests",
            "MBPP/698": "it asks for an order, but dictionaries are equal in any order",
            "MBPP/847": "it asks for a copy, but a list equals its copy",
            "MBPP/899": "all of its tests expect True",
        },
        "time": {"MBPP/123": "its reference takes seconds"},
    }
)
"""Faults of the published data."""


class Row(msgspec.Struct, kw_only=True):
    """One task of mbpp.jsonl or sanitized-mbpp.json."""

    task_id: int
    code: str
    test_list: list[str]
    text: str = ""
    prompt: str = ""
    test_setup_code: str = ""
    test_imports: list[str] = []


def read(line: Line) -> Task:
    """Read one task."""
    row = line.decode(Row)
    setup = "\n".join([*row.test_imports, row.test_setup_code]).strip()
    if parse(setup) is None:
        raise line.error("field test_setup_code or test_imports is not Python")
    trouble = bad_targets("test_list", row.test_list)
    if trouble is not None:
        raise line.error(trouble)
    return Task(
        task_id=f"MBPP/{row.task_id}",
        prompt=row.text or row.prompt,
        entry_point=entry_point(row.code, row.test_list),
        tests=Assertions(targets=row.test_list, setup=setup),
        canonical_solution=row.code,
        limits=Limits().with_seconds(SECONDS),
    )


def aliases(task_id: str) -> list[str]:
    """Return other spellings of a task id."""
    number = task_id.removeprefix("MBPP/")
    return [number, f"Mbpp/{number}", f"mbpp/{number}"]


def entry_point(code: str, tests: Sequence[str]) -> str | None:
    """Return the function of the reference that the first test calls."""
    solution = parse(code)
    test = parse(tests[0])
    if solution is None or test is None:
        return None
    defined = {
        node.name for node in solution.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in defined:
                return name
    return None


SOURCES = (
    Source(
        name="mbpp",
        position=40,
        summary="974 short functions to write from a sentence (Austin et al. 2021)",
        tasks=974,
        file="mbpp.jsonl",
        url=f"{URL}/mbpp.jsonl",
        licence="CC BY 4.0",
        sha256="ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
        read=read,
        matches=lambda fields: "test_list" in fields,
        alias=aliases,
        declares=KNOWN,
    ),
    Source(
        name="mbpp-sanitized",
        position=40,
        summary="427 tasks of MBPP that people checked",
        tasks=427,
        file="sanitized-mbpp.json",
        url=f"{URL}/sanitized-mbpp.json",
        licence="CC BY 4.0",
        sha256="ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9",
        read=read,
        alias=aliases,
        declares=KNOWN,
    ),
)
