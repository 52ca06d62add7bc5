"""Rows of BigCodeBench: libraries that may be missing, a network that leads back, two prompts."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks import TABLE, load
from proctor.benchmarks.bigcodebench import LIBRARIES
from proctor.errors import InputError
from proctor.extraction import extract
from proctor.extraction.assemble import assemble, reference_program
from proctor.judge.judge import Judge
from proctor.records.task import Task, UnitTests
from proctor.records.verdict import Bucket, Passed, Unscored
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import load_settings

Write = Callable[..., Path]
Proctor = Callable[..., Any]
CODE = "import math\nimport collections\n\ndef task_func(values):\n"
ROW: dict[str, Any] = {
    "task_id": "Mine/0",
    "complete_prompt": f'{CODE}    """\n    Count values by their square root.\n    """\n',
    "instruct_prompt": "Count values by their square root. Begin with:\n```\n" + CODE + "```",
    "code_prompt": CODE,
    "canonical_solution": "    return collections.Counter(math.isqrt(v) for v in values)\n",
    "test": (
        "import unittest\nfrom unittest.mock import patch\n\n"
        "class TestCases(unittest.TestCase):\n"
        "    def test_counts(self):\n        self.assertEqual(task_func([1, 2, 4])[1], 2)\n"
        "    def test_empty(self):\n        self.assertEqual(task_func([]), {})\n"
        "    @patch('math.isqrt', return_value=7)\n"
        "    def test_patched(self, mocked):\n        self.assertEqual(task_func([1]), {7: 1})\n"
    ),
    "entry_point": "task_func",
    "libs": "['math', 'collections']",
}
TALK = """
import socket
import threading

def task_func(text):
    server = socket.create_server(("localhost", 0))
    def serve():
        connection, _ = server.accept()
        connection.sendall(connection.recv(100).upper())
        connection.close()
    threading.Thread(target=serve).start()
    with socket.create_connection(server.getsockname()) as client:
        client.sendall(text.encode())
        return client.recv(100).decode()
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    sandbox = open_sandbox(load_settings().sandbox, sys.executable, wished=tuple(LIBRARIES))
    yield Judge(sandbox)
    sandbox.close()


def loaded(jsonl: Write, name: str = "", **changes: Any) -> Task:
    path = jsonl("rows.jsonl", [{**ROW, **changes}])
    (task,) = load(name, path).tasks if name else load(str(path)).tasks
    return task


def verdict(judge: Judge, task: Task, answer: str | None = None) -> Any:
    program = reference_program(task)
    if answer is not None:
        program = assemble(task, extract(answer, task, truncated=False))
    assert program is not None
    return judge.judge(task, program).verdict


def test_a_row(jsonl: Write, judge: Judge) -> None:
    task = loaded(jsonl)
    assert isinstance(task.tests, UnitTests)
    assert (task.limits.wall_seconds, task.limits.loopback) == (240, True)
    assert isinstance(verdict(judge, task), Passed)
    wrong = verdict(judge, task, "    return collections.Counter()\n")
    assert [test.passed for test in wrong.tests] == [False, True, False]


def test_both_prompts(jsonl: Write, judge: Judge) -> None:
    complete, instruct = loaded(jsonl, "bigcodebench"), loaded(jsonl, "bigcodebench-instruct")
    assert complete.prompt == ROW["complete_prompt"]
    assert instruct.prompt == ROW["instruct_prompt"]
    assert isinstance(verdict(judge, complete, ROW["canonical_solution"]), Passed)
    whole = "def task_func(v):\n    return collections.Counter(math.isqrt(x) for x in v)\n"
    fenced = f"Here it is:\n\n```python\n{whole}```\n"
    for task in (complete, instruct):
        assert isinstance(verdict(judge, task, fenced), Passed), "imports stand in front"


def test_the_stub_in_front_answers_nothing(jsonl: Write, judge: Judge) -> None:
    task = loaded(jsonl, "bigcodebench-instruct", canonical_solution=None)
    found = verdict(judge, task, "```python\ndef other():\n    return 1\n```")
    assert found.score == 0
    assert "task_func" in found.detail


def test_missing_libraries_are_the_benchmarks_matter(jsonl: Write, judge: Judge) -> None:
    task = loaded(
        jsonl,
        code_prompt="import no_such_library\n\ndef task_func(values):\n",
        complete_prompt='import no_such_library\n\ndef task_func(values):\n    """Do it."""\n',
    )
    for answer in (None, "    return 1\n"):
        found = verdict(judge, task, answer)
        assert isinstance(found, Unscored)
        assert found.bucket is Bucket.BENCHMARK
        assert "No module named 'no_such_library'" in found.reason


def test_the_network_leads_back(jsonl: Write, judge: Judge) -> None:
    enforcement = judge._sandbox.enforcement()
    task = loaded(
        jsonl,
        code_prompt="def task_func(text):\n",
        canonical_solution=None,
        test=(
            "import unittest\n\nclass TestCases(unittest.TestCase):\n"
            "    def test_it(self):\n        self.assertEqual(task_func('abc'), 'ABC')\n"
        ),
    )
    found = verdict(judge, task, TALK)
    talks = enforcement.tier in ("kernel", "docker", "portable")
    assert isinstance(found, Passed) is talks, found.detail


def test_requirements(proctor: Proctor) -> None:
    for name in ("bigcodebench", "bigcodebench-hard-instruct"):
        ran = proctor("benchmarks", name, "--requirements")
        assert ran.status == 0
        assert {"numpy<2", "tensorflow-cpu<2.16", "Flask", "xlwt"} <= set(ran.out.splitlines())
        assert "tensorflow" not in ran.out.splitlines()
    assert proctor("benchmarks", "leetcode", "--requirements").out == "sortedcontainers\n"
    assert proctor("benchmarks", "humaneval", "--requirements").out == "\n"
    assert proctor("benchmarks", "--requirements").complaint == (
        "--requirements: name the benchmark to print them for"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"test": "x = 1"}, "field test is not Python that declares tests"),
        ({"test": "class"}, "field test is not Python that declares tests"),
        ({"entry_point": "a.b"}, "field entry_point: 'a.b' names no function"),
        ({"code_prompt": "x ="}, "field code_prompt is not Python that ends with a signature"),
        ({"instruct_prompt": 3}, "field instruct_prompt must be a string, not a whole number"),
    ],
)
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    path = jsonl("rows.jsonl", [ROW, {**ROW, "task_id": "Mine/1", **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, line 2: {said}"


# The real tasks


def test_rows_by_id_in_one_object(data: Path, tmp_path: Path) -> None:
    benchmark = load("bigcodebench-hard", data)
    assert benchmark.ids[:2] == ["BigCodeBench/13", "BigCodeBench/15"]
    assert set(benchmark.packages) >= set(LIBRARIES)
    spread = tmp_path / "rows.json"
    spread.write_text(json.dumps({"a": ROW, "b": {**ROW, "task_id": "Mine/1"}}, indent=2))
    assert list(load(str(spread)).ids) == ["Mine/0", "Mine/1"]
    broken = {**ROW, "test": ""}
    spread.write_text(json.dumps({"a": ROW, "b": broken}))
    with pytest.raises(InputError, match=r"rows.json, entry 2: field test is not Python"):
        load(str(spread))


def test_references_that_need_nothing_but_the_standard_library(data: Path, judge: Judge) -> None:
    find = load("bigcodebench-hard", data).finder()
    for number in (19, 310, 800, 854, 928):
        found = verdict(judge, find(f"BigCodeBench/{number}"))
        assert isinstance(found, Passed), (number, found.detail)


def test_every_benchmark_of_it_says_what_it_needs() -> None:
    named = [source for name, source in TABLE.items() if name.startswith("bigcodebench")]
    assert len(named) == 4
    assert all(set(source.libraries) >= set(LIBRARIES) for source in named)
