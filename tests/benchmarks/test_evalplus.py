"""Rows in EvalPlus's format, its published tasks and their references."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.benchmarks.evalplus import aliases
from proctor.benchmarks.restore_types import literal_calls, restore_types
from proctor.errors import InputError
from proctor.extraction.assemble import reference_program
from proctor.judge.judge import Judge
from proctor.records.program import Program
from proctor.records.task import Assertions, CheckFunction, ReferenceCases, Task
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox

Write = Callable[..., Path]
ROW: dict[str, Any] = {
    "task_id": "Mbpp/1",
    "prompt": '"""Write f."""\n',
    "entry_point": "f",
    "canonical_solution": "def f(x): return len(x) / 2\n",
    "base_input": [[[1, 2]], [[]]],
    "plus_input": [[[1, [2], 3]]],
    "atol": 0,
    "contract": "",
    "assertion": "import math\nassert f((1, 2)) == 1.0\nassert math.isclose(f(()), 0.0)\n",
}
CHECKED = {
    **{name: value for name, value in ROW.items() if name != "assertion"},
    "task_id": "HumanEval/1",
    "prompt": "def f(x):\n",
    "canonical_solution": "    return len(x) / 2\n",
    "test": "def check(candidate):\n    assert candidate((1, 2)) == 1.0\n",
}


def cases_of(task: Task) -> ReferenceCases:
    assert isinstance(task.tests, ReferenceCases)
    return task.tests


@pytest.fixture(scope="module")
def plus(data: Path) -> dict[str, Task]:
    """Return all published tasks."""
    names = ("humaneval+", "mbpp+")
    return {task.task_id: task for name in names for task in load(name, data).tasks}


def test_a_row_with_assertions(jsonl: Write) -> None:
    (task,) = load(str(jsonl("m.jsonl", [ROW]))).tasks
    cases = cases_of(task)
    assert (task.task_id, task.entry_point, cases.fn_name) == ("Mbpp/1", "f", "f")
    assert cases.inputs == [[(1, 2)], [()], [(1, [2], 3)]]
    assert cases.groups == {"base": 2, "plus": 1}
    assert cases.compare == "evalplus(1e-06)"
    assert cases.accept == "value"
    assert isinstance(cases.proof, Assertions)
    assert cases.proof.targets == ["assert f((1, 2)) == 1.0", "assert math.isclose(f(()), 0.0)"]
    assert "import math" in cases.proof.setup
    assert task.limits.wall_seconds == 10.0


def test_a_row_with_a_check_function(jsonl: Write) -> None:
    (task,) = load(str(jsonl("h.jsonl", [CHECKED]))).tasks
    cases = cases_of(task)
    assert cases.inputs[0] == [(1, 2)]
    assert cases.proof == CheckFunction(code=CHECKED["test"])


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    row = {**ROW, "base_input": [[float("-inf")], [float("inf")]], "plus_input": {}}
    path.write_text(json.dumps(row))
    cases = cases_of(load(str(path)).tasks[0])
    assert cases.inputs == [[float("-inf")], [float("inf")]]
    assert cases.groups == {"base": 2, "plus": 0}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"entry_point": "f g"}, "field entry_point: 'f g' names no function"),
        ({"base_input": []}, "field base_input is empty"),
        ({"base_input": [1]}, "field base_input[0] must be an array, not a whole number"),
        ({"plus_input": [[1], {}]}, "field plus_input[1] must be an array, not an object"),
        ({"plus_input": "x"}, "field plus_input must be an object or an array, not a string"),
        ({"atol": "0"}, "field atol must be a number, not a string"),
        ({"assertion": "assert f("}, "field assertion is not Python"),
        ({"assertion": ""}, "field test is not Python that defines check(candidate)"),
        ({"canonical_solution": None}, "field canonical_solution must be a string, not null"),
        (
            {"assertion": "assert f({1}) == 1", "plus_input": [[[[2]]]]},
            "an input is not of the type that the tests show: unhashable type: 'list'",
        ),
    ],
)
def test_what_is_wrong_with_a_row(jsonl: Write, changes: dict[str, Any], said: str) -> None:
    path = jsonl("m.jsonl", [ROW, {**ROW, "task_id": "Mbpp/2", **changes}])
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}, line 2: {said}"


def test_rows_of_special_tasks_that_are_odd(jsonl: Write) -> None:
    odd = {
        **ROW,
        "task_id": "Mbpp/558",
        "base_input": [[-1, 2], ["x"], []],
        "plus_input": [[12, 3]],
    }
    (task,) = load(str(jsonl("m.jsonl", [odd]))).tasks
    assert cases_of(task).also == {3: 2}


def test_how_others_spell_an_id() -> None:
    assert aliases("Mbpp/11") == ["11", "MBPP/11", "mbpp/11"]
    assert aliases("HumanEval/11") == []


def test_the_published_tasks(plus: dict[str, Task]) -> None:
    total = Counter[str]()
    for task in plus.values():
        cases = cases_of(task)
        assert sum(cases.groups.values()) == len(cases.inputs)
        assert list(cases.groups) == ["base", "plus"]
        assert task.entry_point in (task.canonical_solution or "") + task.prompt
        total.update(cases.groups)
    assert total == {"base": 1570 + 1174, "plus": 122683 + 39841}
    kinds = {task.task_id: cases_of(task).accept for task in plus.values()}
    assert [task_id for task_id, kind in kinds.items() if kind == "root"] == ["HumanEval/32"]
    numbers = {
        kind: sorted(int(task_id[5:]) for task_id, found in kinds.items() if found == kind)
        for kind in ("elements", "truth")
    }
    assert numbers == {
        "elements": [2, 7, 111, 140, 232, 579, 769],
        "truth": [737, 781, 787, 794, 803, 804],
    }


def as_json(value: Any) -> Any:
    match value:
        case dict():
            return {str(key): as_json(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [as_json(item) for item in value]
        case complex():
            return str(value)
    return value


def test_types_are_restored_as_the_tasks_own_tests_write_them(plus: dict[str, Task]) -> None:
    """Whatever an assertion calls with, its JSON form becomes again what the assertion wrote."""
    lost = set()
    for task in plus.values():
        proof = cases_of(task).proof
        text = proof.code if isinstance(proof, CheckFunction) else "\n".join(proof.targets)
        name = "candidate" if isinstance(proof, CheckFunction) else task.entry_point
        calls = literal_calls(ast.parse(text), name or "")
        bare = [as_json(call) for call in calls]
        if task.task_id == "HumanEval/95":  # one of its keys is a number and the rest is not
            continue
        assert repr(restore_types(calls, bare)) == repr(calls), task.task_id
        if repr(bare) != repr(calls):
            lost.add(task.task_id)
    assert {"HumanEval/127", "Mbpp/2", "Mbpp/124", "Mbpp/580"} <= lost
    assert len(lost) > 50


def test_inputs_of_the_published_tasks(plus: dict[str, Task]) -> None:
    first = {task_id: cases_of(task).inputs for task_id, task in plus.items()}
    assert first["HumanEval/127"][0] == [(1, 2), (2, 3)]
    assert first["Mbpp/2"][0] == [(3, 4, 5, 6), (5, 7, 4, 10)]
    assert first["Mbpp/124"][0] == [0, 1j]
    assert first["Mbpp/252"][3] == [1 + 2j]
    assert first["Mbpp/722"][0][0]["Cierra Vega"] == (6.2, 70)
    assert [float("-inf"), float("inf")] in first["Mbpp/404"]
    deepest = max(first["Mbpp/580"], key=lambda given: str(given).count("(("))
    assert "[" not in str(deepest)[1:-1]


@pytest.fixture(scope="module")
def walls() -> Iterator[Sandbox]:
    """Open one sandbox: what is judged here is tasks, not tiers."""
    opened = open_sandbox("auto", "python3")
    yield opened
    opened.close()


HARD = {
    # the many-sided ones: types, sets, truth, roots, infinities, objects, long answers
    *(f"HumanEval/{n}" for n in (2, 4, 14, 32, 38, 50, 95, 127)),
    *(f"Mbpp/{n}" for n in (2, 7, 87, 120, 124, 140, 252, 278, 301, 404, 558, 580, 596, 737, 793)),
}


def test_references_of_tasks_that_are_hard_to_judge(
    plus: dict[str, Task], walls: Sandbox, alone: Path
) -> None:
    judge = Judge(walls)
    for task_id in sorted(HARD):
        program = reference_program(plus[task_id])
        assert program is not None
        judgement = judge.judge(plus[task_id], program)
        assert judgement.verdict.bucket is Bucket.PASSED, (task_id, judgement.verdict.detail)
        assert len(judgement.verdict.tests) == len(cases_of(plus[task_id]).inputs)


def judged(walls: Sandbox, task: Task, source: str) -> dict[str, Bucket]:
    """Judge one program; return what became of each group."""
    verdict = Judge(walls).judge(task, Program(source=source)).verdict
    groups: dict[str, Bucket] = {}
    for test in verdict.tests:
        if groups.get(test.group or "", Bucket.PASSED) is Bucket.PASSED:
            groups[test.group or ""] = test.bucket
    return groups


def test_other_readings_that_are_right(plus: dict[str, Task], walls: Sandbox, alone: Path) -> None:
    right = {"base": Bucket.PASSED, "plus": Bucket.PASSED}
    padded = """
def digit_distance_nums(a, b):
    a, b = str(a), str(b)
    width = max(len(a), len(b))
    return sum(abs(int(x) - int(y)) for x, y in zip(a.zfill(width), b.zfill(width)))
"""
    assert judged(walls, plus["Mbpp/558"], padded) == right
    unordered = "def find_dissimilar(a, b): return sorted(set(a) ^ set(b), key=str)\n"
    assert judged(walls, plus["Mbpp/579"], unordered) == right
    generator = "def find_char_long(t):\n    import re\n    yield from re.findall(r'\\w{4,}', t)\n"
    assert judged(walls, plus["Mbpp/7"], generator) == right
    boolean = "import re\ndef check_str(s): return bool(re.match('[aeiouAEIOU]', s))\n"
    assert judged(walls, plus["Mbpp/737"], boolean) == right


def test_what_evalplus_is_known_to_accept(
    plus: dict[str, Task], walls: Sandbox, alone: Path, jsonl: Write
) -> None:
    rows = [
        {
            **ROW,
            "task_id": "Mbpp/164",
            "entry_point": "are_equivalent",
            "canonical_solution": "def are_equivalent(a, b): return a == b\n",
            "base_input": [[36, 57], [2, 2]],
            "plus_input": [[1, 1]],
            "assertion": "assert are_equivalent(36, 57) == False",
        },
        {
            **ROW,
            "task_id": "Mbpp/295",
            "entry_point": "sum_div",
            "canonical_solution": "def sum_div(n): return sum(i for i in range(1, n) if n % i == 0)\n",
            "base_input": [[8], [12]],
            "plus_input": [[7]],
            "assertion": "assert sum_div(8) == 7",
        },
    ]
    anything, zero = load(str(jsonl("old.jsonl", rows))).tasks
    assert judged(walls, anything, "def are_equivalent(a, b): return 'yes'\n")["base"]
    assert set(judged(walls, anything, "def are_equivalent(a, b): return 'yes'\n").values()) == {
        Bucket.WRONG_ANSWER
    }
    assert set(judged(walls, zero, "def sum_div(n): return 0\n").values()) == {Bucket.WRONG_ANSWER}
    height = "def surface_Area(b, h): return round(b * b + 2 * b * ((b / 2) ** 2 + h * h) ** 0.5)\n"
    assert judged(walls, plus["Mbpp/581"], height)["base"] is Bucket.WRONG_ANSWER
    nothing = "def check_str(s): return '' if s[:1] not in 'aeiouAEIOU' or not s else []\n"
    assert judged(walls, plus["Mbpp/737"], nothing)["base"] is Bucket.WRONG_ANSWER
    liar = "class X(float):\n    def __pow__(self, n): return 0.0\n    __rpow__ = __pow__\n"
    liar += "def find_zero(xs): return X('inf')\n"
    assert judged(walls, plus["HumanEval/32"], liar)["base"] is Bucket.WRONG_ANSWER


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "tasks"), [("humaneval+", 164), ("mbpp+", 378)])
def test_every_reference(data: Path, proctor: Callable[..., Any], name: str, tasks: int) -> None:
    ran = proctor("run", name, "--model", "reference", "--data", data, "--json", "--out", "r")
    assert ran.status == 0, ran.err
    found = msgspec.json.decode(ran.out)
    assert (found["tasks"], found["passed"], found["unscored"]) == (tasks, tasks, 0)
    assert [(part, figures["passed"]) for part, figures in found["groups"].items()] == [
        ("base", tasks),
        ("base+plus", tasks),
    ]
