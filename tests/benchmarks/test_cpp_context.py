"""The C++ suite that comes with Proctor: right and wrong solutions are told apart."""

import pytest

from proctor.benchmarks import TABLE, load
from proctor.extraction.assemble import verbatim
from proctor.judge.judge import Judge
from proctor.models.prompting import render_prompt
from proctor.records.verdict import Bucket
from tests.requires import requires_language

TASKS = load("cpp-context").tasks
FAST = [task for task in TASKS if task.task_id in ("conf/find", "stock/take", "series/power")]
SLOW = [task for task in TASKS if task not in FAST]


def test_what_there_is():
    assert len(TASKS) == TABLE["cpp-context"].tasks >= 24
    assert TABLE["cpp-context"].summary.startswith(f"{len(TASKS)} ")
    assert {task.task_id.partition("/")[0] for task in TASKS} == {"conf", "stock", "series"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task_id)
def test_every_task_is_whole(task):
    assert task.canonical_solution
    assert task.wrong_solutions
    assert task.context.headers
    assert task.context.call_graph
    assert task.metadata.difficulty in ("easy", "medium", "hard")
    shown = render_prompt(task, chat=True).text
    assert "/*HOLE*/" in shown
    assert task.canonical_solution not in shown
    for file in task.context.files.values():
        assert task.canonical_solution not in file
        assert "// HOLE" not in file


def rejected_and_passed(kernel, task):
    requires_language(kernel, "cpp")
    judge = Judge(kernel)
    assert judge.judge(task, verbatim(task, task.canonical_solution)).verdict.bucket == "passed"
    for wrong in task.wrong_solutions:
        bucket = judge.judge(task, verbatim(task, wrong.code)).verdict.bucket
        assert bucket is wrong.bucket is Bucket.WRONG_ANSWER


@pytest.mark.parametrize("task", FAST, ids=lambda task: task.task_id)
def test_the_reference_passes_and_a_near_miss_does_not(kernel, task):
    rejected_and_passed(kernel, task)


@pytest.mark.slow
@pytest.mark.parametrize("task", SLOW, ids=lambda task: task.task_id)
def test_all_references_pass_and_no_near_miss_does(kernel, task):
    rejected_and_passed(kernel, task)
