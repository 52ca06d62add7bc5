"""The suite that comes with Proctor: right and wrong solutions are told apart on every tier."""

import ast
import doctest
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor import grade_many
from proctor.benchmarks import TABLE, find, is_pinned, load
from proctor.extraction import extract
from proctor.extraction.assemble import assemble
from proctor.extraction.python.syntax import bound_names
from proctor.records.extraction import Extraction
from proctor.records.task import CallCases, StdinCases, Task
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox

TASKS = load("basics").tasks
CODE = [task for task in TASKS if not isinstance(task.tests, StdinCases)]
PROGRAMS = [task for task in TASKS if isinstance(task.tests, StdinCases)]
KINDS = {"assertions", "check", "calls", "stdin", "unittest"}

Strays = Callable[..., list[Any]]


def kind(task: Task) -> object:
    return type(task.tests).__struct_config__.tag


def shown(task: Task) -> str:
    return task.task_id


def asked_for(task: Task) -> Any:
    """Return what a prompt has the head of: a function, a class or a method."""
    last: Any = ast.parse(task.prompt).body[-1]
    return last.body[-1] if isinstance(last.body[-1], ast.FunctionDef) else last


def test_it_is_the_file_that_the_table_names() -> None:
    assert is_pinned(find(TABLE["basics"]), TABLE["basics"])
    assert len(TASKS) == TABLE["basics"].tasks
    assert TABLE["basics"].summary.startswith(f"{len(TASKS)} ")


def test_what_there_is() -> None:
    difficulties = Counter(task.metadata.difficulty for task in TASKS)
    assert difficulties == {"easy": 26, "medium": 16, "hard": 12}
    assert Counter(map(kind, TASKS)) == {
        "assertions": 14,
        "check": 12,
        "calls": 17,
        "stdin": 6,
        "unittest": 5,
    }
    for difficulty in difficulties:
        of_it = [task for task in TASKS if task.metadata.difficulty == difficulty]
        assert {kind(task) for task in of_it} == KINDS
    assert [task.metadata.difficulty for task in TASKS] == sorted(
        (task.metadata.difficulty or "" for task in TASKS), key=["easy", "medium", "hard"].index
    )


def test_the_guide_says_so() -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "basics.md"
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", guide.read_text(), re.MULTILINE)
    found = Counter((kind(task), task.metadata.difficulty) for task in TASKS)
    assert {row[0] for row in rows} == KINDS
    for name, *counts in rows:
        said = [str(found[name, difficulty]) for difficulty in ("easy", "medium", "hard")]
        assert said == counts, name


def test_what_is_looked_at_in_more_than_one_way() -> None:
    stdin = {task.tests.compare for task in TASKS if isinstance(task.tests, StdinCases)}
    assert stdin == {None, "exact", "validator", "float(1e-6, 0)"}
    calls = [task.tests for task in TASKS if isinstance(task.tests, CallCases)]
    assert sum(tests.compare_argument is not None for tests in calls) == 3
    assert sum(tests.kwargs is not None for tests in calls) == 2
    assert sum(tests.compare is not None for tests in calls) == 1


@pytest.mark.parametrize("task", TASKS, ids=shown)
def test_every_task_is_complete(task: Task) -> None:
    assert re.fullmatch("basics/[a-z_]+", task.task_id)
    assert task.metadata.tags
    assert task.canonical_solution
    assert [wrong.name for wrong in task.wrong_solutions] == ["near miss", "lazy"]
    solutions = [task.canonical_solution, *(wrong.code for wrong in task.wrong_solutions)]
    assert len({ast.dump(ast.parse(solution)) for solution in solutions}) == 3


@pytest.mark.parametrize("task", CODE, ids=shown)
def test_a_prompt_ends_where_its_function_begins(task: Task) -> None:
    """So it can be continued as it is, and the docstring says all to those who are asked in chat."""
    name = (task.entry_point or "").partition("(")[0]
    assert bound_names(ast.parse(task.prompt).body[-1]) == {name}
    assert task.prompt.endswith('"""\n')
    assert len(asked_for(task).body) == 1
    assert ast.get_docstring(asked_for(task))


@pytest.mark.parametrize("task", CODE, ids=shown)
def test_the_examples_of_a_prompt_agree_with_the_reference(task: Task) -> None:
    names: dict[str, Any] = {}
    reference = Extraction(code=task.canonical_solution or "", rule="whole")
    exec(assemble(task, reference).source, names)
    text = ast.get_docstring(asked_for(task)) or ""
    examples = doctest.DocTestParser().get_doctest(text, names, task.task_id, None, 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner().run(examples, out=said.append)
    assert tried > 0
    assert not failed, "".join(said)


@pytest.mark.parametrize("task", PROGRAMS, ids=shown)
def test_the_example_of_a_program_is_its_first_case(task: Task) -> None:
    assert isinstance(task.tests, StdinCases)
    text = ast.get_docstring(ast.parse(task.prompt), clean=False) or ""
    given, _, wanted = text.partition("Input:\n\n")[2].partition("\nOutput:\n\n")
    assert (given, wanted) == (task.tests.inputs[0], task.tests.outputs[0])


def body(task: Task) -> str | None:
    """Return the reference as what follows the prompt, if it is all in one place."""
    solution = task.canonical_solution or ""
    tree = ast.parse(solution)
    last: Any = tree.body[-1]
    if len([node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]) > 1:
        return None
    if isinstance(task.entry_point, str) and "." in task.entry_point:
        last = last.body[-1]
    return "\n".join(solution.splitlines()[last.body[0].lineno - 1 :]) + "\n"


def test_answers_of_base_models_and_of_chat_models() -> None:
    samples = []
    for task in CODE:
        samples.append((task, f"Sure!\n\n```python\n{task.canonical_solution}```\n\nIt works."))
        imports = "import" in (task.canonical_solution or "").partition("def ")[0]
        if (continued := body(task)) and not imports:
            found = extract(continued, task, truncated=False)
            assert isinstance(found, Extraction)
            assert found.rule == "continuation", task.task_id
            samples.append((task, continued))
    assert len(samples) > 1.5 * len(CODE)
    failed = [receipt for receipt in grade_many(samples) if receipt.outcome != "pass"]
    assert not failed


@pytest.mark.parametrize("model", ["reference", "wrong"])
def test_right_and_wrong_are_told_apart(sandbox: Sandbox, strays: Strays, model: str) -> None:
    """In the portable tier, where every process starts from nothing, of every fourth task."""
    assert strays(sandbox, model, 4 if sandbox.enforcement().tier == "portable" else 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["portable"], indirect=True)
@pytest.mark.parametrize("model", ["reference", "wrong"])
def test_all_are_told_apart_in_the_portable_tier(
    sandbox: Sandbox, strays: Strays, model: str
) -> None:
    assert strays(sandbox, model) == []


def test_wrong_solutions_are_rejected_for_several_reasons() -> None:
    buckets = Counter(wrong.bucket for task in TASKS for wrong in task.wrong_solutions)
    assert set(buckets) == {Bucket.WRONG_ANSWER, Bucket.TEST_EXCEPTION, Bucket.CPU_TIME}
