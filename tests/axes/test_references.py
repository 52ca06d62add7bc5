"""Real code: no false finding in references of HumanEval-X, and every seeded invention found."""

import re
from pathlib import Path

import pytest

from proctor.axes.finding import INVENTIONS
from proctor.axes.measure import alone
from proctor.axes.parser import Parser
from proctor.benchmarks import load
from proctor.records.task import Task

MEMBER = re.compile(r"(?<=[.])([a-z_]{3,})(?=\()")
CALL = re.compile(r"(?<![.\w:>])(sort|max|min|abs|to_string|pow|sqrt|round|floor|push_heap)(?=\()")
TYPE = re.compile(r"\b(vector|map|set|unordered_map)(?=<)")


def tasks(data: Path, step: int) -> list[Task]:
    return list(load("humaneval-x-cpp", data).tasks)[::step]


def clean(parser: Parser, task: Task) -> bool:
    reading = parser.read(alone(task, task.prompt), None, [task.canonical_solution or ""])[0]
    return not (reading.findings or reading.errors or reading.outside_errors)


def seeds(code: str) -> list[str]:
    """Return the code with one name after the other made up."""
    places = [match for kind in (MEMBER, CALL, TYPE) for match in kind.finditer(code)]
    return [f"{code[: at.end()]}_zz{code[at.end() :]}" for at in places]


def missed(parser: Parser, task: Task, most: int) -> list[str]:
    """Return seeded code in which the seed was not found."""
    planted = seeds(task.canonical_solution or "")[:most]
    if not planted:
        return []
    readings = parser.read(alone(task, task.prompt), task.canonical_solution, planted)
    return [
        code
        for code, reading in zip(planted, readings, strict=True)
        if not any(one.name.endswith("_zz") and one.kind in INVENTIONS for one in reading.findings)
    ]


def test_references_have_no_finding(parser, data):
    assert [task.task_id for task in tasks(data, 33) if not clean(parser, task)] == []


def test_seeded_inventions_are_found(parser, data):
    assert [missed(parser, task, 5) for task in tasks(data, 33)] == [[]] * len(tasks(data, 33))


@pytest.mark.slow
def test_all_references_have_no_finding(parser, data):
    assert [task.task_id for task in tasks(data, 1) if not clean(parser, task)] == []


@pytest.mark.slow
def test_all_seeded_inventions_are_found(parser, data):
    assert [found for task in tasks(data, 1) if (found := missed(parser, task, 40))] == []
