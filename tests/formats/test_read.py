"""Every format is told by what a file holds, and what is wrong with it is said."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats import read

IDS = ["HumanEval/0", "HumanEval/1"]
LCB = {"question_id": "abc301_a", "code_list": ["x", "y"], "question_title": "t"}
PROBLEM = {
    "name": "HumanEval_0_has_close_elements",
    "language": "py",
    "prompt": "def f():\n",
    "tests": "def check(): pass",
    "stop_tokens": ["\ndef"],
}
RESULTS = [
    {"program": "def f():\n    1\ndef check(): pass", "status": "OK", "exit_code": 0},
    {"program": "def f():\n    2\ndef check(): pass", "status": "OK", "exit_code": 1},
    {"program": "no tests in it", "status": "Timeout", "exit_code": -1},
]
EVAL = {
    "date": "2024-01-01 00:00",
    "hash": "00",
    "eval": {
        "HumanEval/1": [
            {
                "task_id": "HumanEval/1",
                "solution": "a",
                "base_status": "pass",
                "plus_status": "fail",
                "base_fail_tests": [],
                "plus_fail_tests": [[1] * 1000],
            },
            {"task_id": "HumanEval/1", "solution": "b", "base_status": "timeout"},
        ],
        "HumanEval/0": [],
    },
}


def rows(path: Path, **how: Any) -> list[dict[str, Any]]:
    return [row for _, row in read(path, IDS, **how)]


def written(path: Path, value: Any, **how: Any) -> Path:
    path.write_text(json.dumps(value, **how))
    return path


def refused(path: Path, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        rows(path, **how)
    return str(caught.value).removeprefix(str(path))


def test_plain_samples_are_left_as_they_are(tmp_path: Path) -> None:
    samples = [
        {"task_id": "HumanEval/0", "completion": "x", "passed": True, "result": "passed"},
        {"task_id": "HumanEval/1", "solution": "y", "more": {"name": 1}},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in samples))
    assert rows(path) == samples
    assert rows(written(tmp_path / "s.json", samples)) == samples
    assert rows(written(tmp_path / "s.json", samples, indent=2)) == samples


@pytest.mark.parametrize("indent", [None, 4])
def test_lists_of_generations(tmp_path: Path, indent: int | None) -> None:
    path = written(tmp_path / "generations.json", [["a", "b"], ["c"]], indent=indent)
    assert rows(path) == [
        {"task_id": "HumanEval/0", "solution": "a"},
        {"task_id": "HumanEval/0", "solution": "b"},
        {"task_id": "HumanEval/1", "solution": "c"},
    ]


def test_more_generations_than_tasks(tmp_path: Path) -> None:
    path = written(tmp_path / "g.json", [["a"], ["b"], ["c"]])
    assert refused(path) == ", element 3: the benchmark has only 2 tasks"
    assert len(rows(path, more=True)) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([["a"], [1]], ", element 2: item 0 must be a string"),
        ([["a"], [None]], ", element 2: item 0 must be a string"),
        ([["a"], "b"], ", element 2: it must be an array, not a string"),
    ],
)
def test_what_is_no_generation(tmp_path: Path, content: Any, said: str) -> None:
    assert refused(written(tmp_path / "g.json", content)) == said


@pytest.mark.parametrize("indent", [None, 4])
def test_livecodebench(tmp_path: Path, indent: int | None) -> None:
    graded = {**LCB, "question_id": 7, "graded_list": [True, False], "pass@1": 0.5}
    path = written(tmp_path / "x_eval_all.json", [LCB, graded], indent=indent)
    assert rows(path) == [
        {"task_id": "abc301_a", "solution": "x"},
        {"task_id": "abc301_a", "solution": "y"},
        {"task_id": 7, "solution": "x", "passed": True},
        {"task_id": 7, "solution": "y", "passed": False},
    ]
    lines = tmp_path / "x.jsonl"
    lines.write_text(json.dumps(LCB) + "\n")
    assert len(rows(lines)) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"code_list": "x"}, "field code_list must be an array"),
        ({"code_list": ["x", None]}, "field code_list[1] must be a string"),
        ({"graded_list": [1, 0]}, "field graded_list[0] must be a boolean"),
        ({"graded_list": [True]}, "graded_list has 1 items, code_list 2"),
    ],
)
def test_what_is_wrong_with_a_question(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "x.json", [LCB, {**LCB, **changes}])
    assert refused(path) == f", element 2: {said}"
    nameless = {name: value for name, value in LCB.items() if name != "question_id"}
    path = written(tmp_path / "y.json", [nameless])
    assert refused(path) == ", element 1: field question_id is missing"


def test_multipl_e_results(tmp_path: Path) -> None:
    path = tmp_path / "HumanEval_0_has_close_elements.results.json.gz"
    path.write_bytes(gzip.compress(json.dumps({**PROBLEM, "results": RESULTS}, indent=2).encode()))
    found = [
        {"task_id": "HumanEval/0", "solution": "def f():\n    1", "passed": True, "status": "OK"},
        {"task_id": "HumanEval/0", "solution": "def f():\n    2", "passed": False, "status": "OK"},
        {"task_id": "HumanEval/0", "solution": "no tests in it", "passed": False, "status": "Timeout"},
    ]  # fmt: skip
    assert rows(path) == found
    (tmp_path / "HumanEval_0_has_close_elements.json.gz").write_bytes(b"its completions")
    assert rows(tmp_path) == found
    assert rows(written(tmp_path / "one.json", {**PROBLEM, "results": RESULTS})) == found


def test_multipl_e_completions(tmp_path: Path) -> None:
    written(tmp_path / "a.json", {**PROBLEM, "name": "mbpp_3_f", "completions": ["    1", ""]})
    assert rows(tmp_path) == [
        {"task_id": "MBPP/3", "solution": "def f():\n    1"},
        {"task_id": "MBPP/3", "solution": "def f():\n"},
    ]


def test_a_name_may_be_an_id(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", {**PROBLEM, "results": RESULTS[:1]})
    assert next(iter(read(path, [PROBLEM["name"]])))[1]["task_id"] == PROBLEM["name"]
    path = written(tmp_path / "b.json", {**PROBLEM, "name": "other", "results": RESULTS[:1]})
    assert next(iter(read(path, [])))[1]["task_id"] == "other"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": 3}, "field name must be a string"),
        ({"results": {}}, "field results must be an array"),
        ({"results": [1]}, "field results[0] must be an object"),
        ({"results": [{"status": "OK"}]}, "field results[0].program is missing"),
        ({"results": [{"program": "x"}]}, "field results[0].status is missing"),
        (
            {"results": [{"program": 1, "status": "OK"}]},
            "field results[0].program must be a string, not 1",
        ),
        ({"tests": 1}, "field tests must be a string, not 1"),
    ],
)
def test_what_is_wrong_with_a_problem(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "p.json", {**PROBLEM, "results": RESULTS, **changes}, indent=2)
    assert refused(path) == f", line 1: {said}"
    path = written(tmp_path / "q.json", {**PROBLEM, "completions": [1]})
    assert refused(path) == ", line 1: field completions[0] must be a string"


@pytest.mark.parametrize("indent", [None, 2])
def test_results_of_evalplus(tmp_path: Path, indent: int | None) -> None:
    path = written(tmp_path / "s_eval_results.json", EVAL, indent=indent)
    assert rows(path) == [
        {"task_id": "HumanEval/1", "solution": "a", "base_status": "pass", "plus_status": "fail"},
        {"task_id": "HumanEval/1", "solution": "b", "base_status": "timeout"},
    ]
    whole = {**EVAL, "eval": {"HumanEval/0": [{"task_id": "HumanEval/0", "solution": "\ud800"}]}}
    assert rows(written(path, whole))[0]["solution"] == "\ud800"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"eval": []}, ", line 1: field eval must be an object, not an array"),
        ({"eval": {"a": 1}}, ", line 1: a field must be an array, not a whole number"),
        ({"eval": {"a": [{}, 1]}}, ", result 2: it must be an object, not a whole number"),
    ],
)
def test_what_is_no_result(tmp_path: Path, content: Any, said: str) -> None:
    assert refused(written(tmp_path / "r.json", content)) == said


def test_torn_and_empty_files(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", EVAL)
    path.write_text(path.read_text()[:-9])
    assert refused(path).startswith(", line 1: not JSON: ")
    packed = tmp_path / "a.results.json.gz"
    packed.write_bytes(gzip.compress(b"{}" * 1000)[:-20])
    assert "cannot read" in refused(packed)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert rows(empty) == []
    assert refused(tmp_path / "none.jsonl").startswith("cannot read")


def test_folders_of_evalplus(tmp_path: Path) -> None:
    for name, text in (("0", "a"), ("10", "c"), ("2", "b")):
        place = tmp_path / "HumanEval_1" / f"{name}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    written(tmp_path / "eval_results.json", EVAL)
    assert [row["solution"] for row in rows(tmp_path)] == ["a", "b", "c"]
    (tmp_path / "HumanEval_1" / "3.py").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"3.py: not UTF-8"):
        rows(tmp_path)
