"""References of real benchmarks, written as models would write them."""

import ast
import gzip
import json
from pathlib import Path

import pytest

from proctor.extraction import extract
from proctor.extraction.assemble import BASE_IMPORTS, assemble, verbatim
from proctor.extraction.markdown import normalise
from proctor.extraction.python.syntax import parse
from proctor.records.task import Assertions, CheckFunction, Task

DATA = Path(__file__).parents[3] / "shared" / "data"


def task(prompt, entry, tests=None):
    tests = tests or Assertions(targets=[])
    return Task(task_id=entry, prompt=prompt, entry_point=entry, tests=tests)


def run(program):
    namespace = {"__name__": "candidate"}
    exec(compile(program.source, "candidate", "exec", dont_inherit=True), namespace)
    return namespace


def definitions(source, name):
    return sum(isinstance(n, ast.FunctionDef) and n.name == name for n in parse(source).body)


def read_rows(*parts):
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def humaneval():
    return [
        (
            task(row["prompt"], row["entry_point"], CheckFunction(code=row["test"])),
            row["canonical_solution"],
        )
        for row in read_rows("humaneval", "HumanEval.jsonl.gz")
    ]


def without_imports(prompt):
    kept = [n for n in ast.parse(prompt).body if not isinstance(n, ast.Import | ast.ImportFrom)]
    return prompt.split("\n", kept[0].lineno - 1)[-1]


def only_entry(prompt, entry):
    (node,) = [n for n in ast.parse(prompt).body if getattr(n, "name", None) == entry]
    return prompt.split("\n", node.lineno - 1)[-1]


FORMS = {
    "continuation": (lambda t, s: s, {"continuation"}),
    "with the prompt": (lambda t, s: t.prompt + s, {"whole"}),
    "without imports": (lambda t, s: without_imports(t.prompt) + s, {"whole"}),
    "entry point only": (lambda t, s: only_entry(t.prompt, t.entry_point) + s, {"whole"}),
    "in a fence": (lambda t, s: f"Sure:\n```python\n{t.prompt}{s}```\nIt's done.", {"fence"}),
    "entry point in a fence": (
        lambda t, s: f"```py\n{only_entry(t.prompt, t.entry_point)}{s}\n```",
        {"fence"},
    ),
    "body in a fence": (lambda t, s: f"The body:\n```python\n{s}```", {"fence"}),
    "prefilled": (lambda t, s: f"{s}```\nThat's it.", {"prefilled-fence"}),
    "stripped body": (lambda t, s: s.strip(), {"whole+mended", "continuation"}),
    "prose behind": (lambda t, s: f"{t.prompt}{s}\n\nThis isn't hard.", {"prose-cut"}),
    "next turn": (lambda t, s: f"{s}\nHuman: What's next?", {"chat-cut"}),
    "end mark": (lambda t, s: f"{s}<|im_end|>", {"whole"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_humaneval_references_in_every_form(form):
    write, rules = FORMS[form]
    tasks = humaneval()
    assert len(tasks) == 164
    for asked, solution in tasks:
        found = extract(write(asked, solution), asked, truncated=False)
        assert found.rule in rules, (asked.task_id, asked.entry_point)
        names = run(assemble(asked, found))
        assert callable(names[asked.entry_point])
        assert definitions(assemble(asked, found).source, asked.entry_point) == 1


def test_humaneval_references_pass_their_tests_in_every_form():
    for asked, solution in humaneval()[30:60]:  # helpers of the prompt are among these
        for write, _ in FORMS.values():
            names = run(assemble(asked, extract(write(asked, solution), asked, truncated=False)))
            exec(asked.tests.code, names)
            names["check"](names[asked.entry_point])


def test_verbatim_humaneval():
    for asked, solution in humaneval():
        program = verbatim(asked, solution, preamble=BASE_IMPORTS)
        assert program.source.startswith(BASE_IMPORTS)
        assert program.source.endswith(f"\n{asked.prompt}{solution}")
        assert callable(run(program)[asked.entry_point])


def mbpp_entry(row):
    bound = {n.name for n in parse(row["code"]).body if isinstance(n, ast.FunctionDef)}
    calls = (n for n in ast.walk(ast.parse(row["test_list"][0])) if isinstance(n, ast.Call))
    return next(n.func.id for n in calls if isinstance(n.func, ast.Name) and n.func.id in bound)


def test_mbpp_references_in_three_forms():
    rows = read_rows("mbpp", "mbpp.jsonl.gz")
    assert len(rows) == 974
    for row in rows:
        asked = task(row["text"], mbpp_entry(row))
        code = normalise(row["code"])
        prose = "Here is the function:\n\n"
        for text, rule in (
            (row["code"], "whole"),
            (f"{prose}```python\n{code}\n```\n", "fence"),
            (f"[BEGIN]\n{code}\n[DONE]\n", "marked"),
        ):
            found = extract(text, asked, truncated=False)
            assert (found.rule, found.continues) == (rule, False), row["task_id"]
            assert found.code.strip("\n") == code.strip("\n")
            assert assemble(asked, found).source == found.code
