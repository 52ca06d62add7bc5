"""What holds for every answer: no surprise, no harm, bounded cost."""

import ast
import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.extraction import MAX_CHARACTERS, extract
from proctor.extraction.assemble import assemble
from proctor.extraction.python.syntax import parse
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import Assertions, CheckFunction, StdinCases, Task

DATA = Path(__file__).parents[3] / "shared" / "data"
NO_TESTS = Assertions(targets=[])
PROMPT = 'from typing import List\n\n\ndef f(x):\n    """Do it."""\n'
TASKS = (
    Task(task_id="plain", entry_point="f", tests=NO_TESTS),
    Task(task_id="prompt", prompt=PROMPT, entry_point="f", tests=NO_TESTS),
    Task(task_id="sentence", prompt="Write a function f.", entry_point="f", tests=NO_TESTS),
    Task(task_id="stdin", prompt="Read x.", tests=StdinCases(inputs=[], outputs=[])),
    Task(task_id="nothing", tests=NO_TESTS),
)

FRAGMENTS = (
    "```python\n", "```\n", "````\n", "~~~\n", "  ```\n", "1. ```py\n", "`", "<think>\n", "</think>\n",
    "<think>", "[PYTHON]\n", "[/PYTHON]", "# [DONE]\n", "<code>", "</code>", '{"code": "', '\\n"}',
    '"arguments": "{\\"code\\": \\"x\\"}"', "def f(x):\n", "    return x\n", "  return x\n", "\treturn x\n",
    "return x\n", "import os\n", "from __future__ import annotations\n", "@cache\n", "x = (\n", ")\n",
    '"""', "'''", "'", '"', "\\", "\0", "\ufeff", "\r\n", "\r", "\n", "\n\n", " ", "\f", "\x1c", "\u2028",
    ">>> f(1)\n", "... x\n", "Human: hi\n", "Assistant\n", "### Usage\n", "---\n", "**bold**\n",
    "It doesn't (really).\n", "Output\n", "python\n", "# comment\n", "<|im_end|>", "\ud800", "é", "😀",
    "class A:\n", "else:\n", "lambda: ", "f = 1\n", "print(f(1))\n", "<|channel|>final<|message|>",
)  # fmt: skip

STATEMENTS = (
    "import math",
    "x = 1",
    "x: int = 1",
    's = "don\'t"',
    's = \'"""\'',
    '# it\'s a """ comment',
    's = """\nHuman: hello\n### heading\n"""',
    "s = '''\n    indented\nnot\n'''",
    "def g(x):\n    return [\n        x,\n]",
    "def f(x):\n    return x",
    "@staticmethod\ndef g(x):\n    '''Doc.'''\n    return x",
    "class A:\n    def f(self):\n        yield 1",
    "if __name__ == '__main__':\n    print(f(1))\nelse:\n    pass",
    "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
    "t = r'\\d' '<think>'",
    "f = lambda x: x",
    "print(f'{x!r:>{10}}')",
    "async def h():\n    await g(1)",
    "y = x if x else \\\n    0",
    "### not a heading",
)

PROSE = st.sampled_from(
    [
        "",
        "Here is it:\n",
        "Sure! It's (quite) easy:\n\n",
        "# Heading\n\nText.\n",
        "1. First, do:\n\n",
    ]
)


@st.composite
def programs(draw):
    """Programs that define `f`, with all that may confuse a scanner of text."""
    before = draw(st.lists(st.sampled_from(STATEMENTS), max_size=4))
    after = draw(st.lists(st.sampled_from(STATEMENTS), max_size=4))
    return "\n".join([*before, "def f(x):\n    return x + 1", *after]) + "\n"


def any_text():
    return st.one_of(
        st.text(st.characters(exclude_categories=())),
        st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join),
    )


@settings(max_examples=300)
@given(any_text(), st.sampled_from(TASKS), st.booleans())
def test_no_answer_makes_it_raise(text, task, truncated):
    found = extract(text, task, truncated=truncated)
    if isinstance(found, Extraction):
        assert found.code.strip()
        assemble(task, found, preamble="import math")
    else:
        assert found.reason


@given(programs(), st.sampled_from(TASKS[:3]), st.booleans())
def test_a_program_is_not_touched(program, task, truncated):
    found = extract(program, task, truncated=truncated)
    assert found == Extraction(code=program, rule="whole")


@given(
    programs(),
    PROSE,
    PROSE,
    st.sampled_from(["```python", "````", "~~~py", "~~~~~Python 3", "```text"]),
    st.sampled_from(["", "   "]),
)
def test_a_fenced_program_comes_back(program, before, after, opening, indent):
    closing = "".join(char for char in opening if char in "`~")
    lines = [opening, *program.split("\n")[:-1], closing]
    block = "".join(f"{indent}{line}\n" for line in lines)
    found = extract(before + block + after, TASKS[0], truncated=False)
    assert found == Extraction(code=program, rule="fence")


@given(
    programs(), st.sampled_from(TASKS[:3]), st.sampled_from(FRAGMENTS), st.sampled_from(FRAGMENTS)
)
def test_extraction_is_idempotent(program, task, before, after):
    found = extract(f"{before}{program}{after}", task, truncated=False)
    if isinstance(found, Extraction) and not found.continues and parse(found.code):
        assert extract(found.code, task, truncated=False).code == found.code


@given(
    st.lists(
        st.sampled_from(["    y = 1", "    return x", "    if x:\n        return 1"]), min_size=1
    )
)
def test_a_body_is_not_touched(lines):
    body = "\n".join(lines)
    found = extract(body, TASKS[1], truncated=False)
    assert found == Extraction(code=body, rule="continuation", continues=True)


@given(st.sampled_from(["", " ", "  ", "   ", "\t", "        "]), st.booleans())
def test_a_body_of_any_indentation_is_read_alike(indent, strip):
    body = f"{indent}y = x\n{indent}if y:\n{indent}\ty += 1\n{indent}return y\n"
    found = extract(body.lstrip() if strip and indent else body, TASKS[1], truncated=False)
    namespace = {}
    exec(assemble(TASKS[1], found).source, namespace)
    assert (found.continues, namespace["f"](1), namespace["f"](0)) == (True, 2, 0)


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\ufeff", "\r\n"])
def test_an_empty_answer(text):
    assert extract(text, TASKS[0], truncated=False) == NoCode(reason="the answer is empty")


def test_an_answer_that_is_too_long():
    found = extract("x = 1\n" * MAX_CHARACTERS, TASKS[0], truncated=False)
    assert found == NoCode(reason="the answer is longer than 1048576 characters")


def test_a_language_without_rules():
    task = Task(task_id="t/1", language="cobol", tests=NO_TESTS)
    with pytest.raises(InputError, match="t/1: no rules to extract 'cobol' code"):
        extract("x", task, truncated=False)


HOSTILE = {
    "prose": ("The quick brown fox doesn't jump.\n", ""),
    "prose, then code": ("The quick brown fox.\n", "\n\ndef f(x):\n    return x\n"),
    "statements, then junk": ("x = 1\n", "\n(((( junk\n"),
    "functions, then prose": ("def f(x):\n    return x\n", "\nThis is prose.\n"),
    "functions and prose": ("def f(x):\n    return x\n\nProse it is.\n\n", ""),
    "broken functions": ("def f(x:\n    return x\n", ""),
    "fence lines": ("```\n", ""),
    "blocks": ("```\na\n```\n", ""),
    "blocks with the entry point": ("```python\ndef f(x):\n    return x\n```\n", ""),
    "broken blocks": ("```python\ndef f(x)\n    return x\n```\n", ""),
    "blocks with stray quotes": ('```\n\\"""\n```\n```python\n', '"""\n'),
    "two kinds of fences": ("```\n~~~\n", ""),
    "docstrings, then a fence": ('    """x"""\n', "```\n"),
    "backticks": ("`", ""),
    "quotes": ('"', ""),
    "brackets": ("(", ""),
    "backslashes": ("\\\n", ""),
    "spaces": (" ", "x"),
    "tags": ("<think>\n</think>\n", ""),
    "marks": ("[PYTHON]\n", ""),
    "fields": ('"code": "', ""),
    "sessions": (">>> f(1)\n", ""),
    "turns": ("def f(x):\n    return x\n\nHuman: hi\n", ""),
    "decorators": ("@a\n", ""),
    "for in in in": ("for in in in", ""),
    "colons": ("if :", ""),
    "one body": ("    x = 1\n", "\nThis is prose.\n"),
}


@pytest.mark.parametrize("characters", [1 << 16, pytest.param(1 << 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("unit", "last"), HOSTILE.values(), ids=HOSTILE.keys())
def test_the_work_is_bounded(unit, last, characters, monkeypatch):
    text = (unit * (characters // len(unit) + 1))[: characters - len(last)] + last
    parsed = []
    real_parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *a: parsed.append(len(a[0])) or real_parse(*a))
    for truncated in (False, True):
        parsed.clear()
        extract(text, TASKS[1], truncated=truncated)
        assert len(parsed) <= 64
        assert sum(parsed) <= 2 << 20


def test_the_number_of_parses_does_not_grow_with_the_answer(monkeypatch):
    counts = []
    real_parse = ast.parse
    for lines in (100, 1000, 5000):
        calls = []
        monkeypatch.setattr(ast, "parse", lambda *a, calls=calls: calls.append(a) or real_parse(*a))
        prose = "It isn't code (at all).\n" * lines
        extract(f"{prose}\ndef f(x):\n    return x\n\n{prose}", TASKS[1], truncated=False)
        counts.append(len(calls))
    assert counts[0] < 30
    assert counts[-1] <= counts[0] + 12  # bisection: twice per doubling


def humaneval():
    path = DATA / "humaneval" / "HumanEval.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        row["task_id"]: Task(
            task_id=row["task_id"],
            prompt=row["prompt"],
            entry_point=row["entry_point"],
            tests=CheckFunction(code=row["test"]),
        )
        for row in rows
    }


def recorded_answers(step):
    """Every `step`-th answer of the 93 recorded models."""
    path = DATA / "recorded" / "chat-completions" / "humaneval-93-models.tar.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    number = 0
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".jsonl"):
                for line in io.TextIOWrapper(archive.extractfile(member), encoding="utf-8"):
                    number += 1
                    if line.strip() and not number % step:
                        yield json.loads(line)


def test_recorded_answers_parse_as_often_as_they_can():
    tasks = humaneval()
    total = parsing = 0
    for row in recorded_answers(step=10):
        task, text = tasks[row["task_id"]], row["completion"]
        found = extract(text, task, truncated=False)
        total += 1
        good = isinstance(found, Extraction) and parse(assemble(task, found).source) is not None
        parsing += good
        if text.strip() and (parse(text) or parse(task.prompt + text)):
            assert good
            assert found.rule in {"whole", "continuation"}
    assert parsing / total > 0.85


def test_recorded_answers_survive_a_chat():
    tasks = humaneval()
    for row in recorded_answers(step=40):
        task, text = tasks[row["task_id"]], row["completion"]
        alone = extract(text, task, truncated=False)
        if isinstance(alone, NoCode) or alone.rule != "whole" or "```" in text:
            continue
        code = alone.code.strip("\n") + "\n"
        answer = f"<think>\nHm, let's see.\n</think>\nSure!\n\n```python\n{code}```\n\nThat's it.\n"
        assert extract(answer, task, truncated=False).code == code
