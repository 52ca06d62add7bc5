"""Shared parts of the readers of HumanEval-X and MultiPL-E, whose tests are programs."""

import re

import msgspec

from proctor.extraction.c_family import entry_of
from proctor.languages import get_language
from proctor.records.limits import Limits
from proctor.records.task import Task
from proctor.storage.jsonl import Line, shorten

LIMITS = Limits().with_seconds(10.0)
"""Compilers and runtimes such as the JVM need seconds to start."""


def finish_task(line: Line, task: Task, code: str) -> Task:
    """Check a task with these tests and add its entry point."""
    if not task.task_id:
        raise line.error("task_id is empty")
    harness = get_language(task.language).harness
    if harness and harness.heads and not re.search(harness.heads, code, re.MULTILINE):
        raise line.error(f"there is no test function in {shorten(code)}")
    return msgspec.structs.replace(task, entry_point=entry_of(task))
