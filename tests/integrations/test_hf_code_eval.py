"""`code_eval`: the shape of Hugging Face's results, and what is in them."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from proctor import api
from proctor.benchmarks import load
from proctor.errors import InputError
from proctor.integrations import hf_code_eval
from proctor.records.receipt import Receipt
from proctor.records.task import CheckFunction
from proctor.records.verdict import Bucket

RIGHT, WRONG = "def add(a, b): return a+b", "def add(a,b): return a*b"
ADD = "assert add(2,3)==5"


def compute(candidates: list[str], test: str, **more: Any) -> tuple[dict[str, float], list[str]]:
    """Return pass@k and the results of one task."""
    pass_at_k, results = hf_code_eval.compute(predictions=[candidates], references=[test], **more)
    return pass_at_k, [result["result"] for _, result in results.get(0, [])]


def test_the_example_of_its_own_documentation() -> None:
    pass_at_k, results = hf_code_eval.compute(
        references=[ADD], predictions=[[WRONG, RIGHT]], k=[1, 2]
    )
    assert pass_at_k == {"pass@1": 0.5, "pass@2": 1.0}
    failed, passed = results[0]
    assert passed == (
        1,
        {"task_id": 0, "passed": True, "result": "passed", "completion_id": 1},
    )
    assert list(failed[1]) == ["task_id", "passed", "result", "completion_id"]
    assert failed[1]["result"].startswith("failed: ")
    assert failed[1]["passed"] is False


def test_the_signature_is_the_same() -> None:
    parameters = inspect.signature(hf_code_eval.compute).parameters
    assert list(parameters) == ["predictions", "references", "k", "num_workers", "timeout"]
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    assert defaults == {"k": (1, 10, 100), "num_workers": 4, "timeout": 3.0}


def test_what_each_candidate_did() -> None:
    candidates = [RIGHT, WRONG, "def add(:", "def add(a, b):\n    while True: pass", "x = y"]
    pass_at_k, said = compute(candidates, ADD, timeout=0.5)
    assert pass_at_k == {"pass@1": 0.2}  # 10 and 100 are more than there are
    assert (said[0], said[3]) == ("passed", "timed out")
    assert [text.partition(":")[0] for text in (said[1], said[2], said[4])] == ["failed"] * 3
    assert "SyntaxError" in said[2]
    assert "NameError" in said[4]


def test_several_tasks_in_their_order() -> None:
    tests = [f"assert f({n}) == {n}" for n in range(12)]
    candidates = [["def f(x): return x", f"def f(x): return {n % 3}"] for n in range(12)]
    pass_at_k, results = hf_code_eval.compute(candidates, tests, k=[1, 2], num_workers=2)
    assert list(results) == list(range(12))
    assert [place for place, _ in results[7]] == [0, 1]
    assert [one["passed"] for _, one in results[2]] == [True, True]
    assert pass_at_k == {"pass@1": pytest.approx((9 * 0.5 + 3) / 12), "pass@2": 1.0}


@pytest.mark.parametrize(
    ("test", "right"),
    [
        ("assert add(1, 1) == 2\nassert add(0, 5) == 5", True),
        ("assert add(1, 1) == 2\nassert add(0, 5) == 6", False),
        ("def check(candidate):\n    assert candidate(1, 2) == 3\n\ncheck(add)", True),
        ("def check(candidate):\n    assert candidate(1, 2) == 4\n\ncheck(add)", False),
        ("import math\n\ndef test():\n    assert math.isclose(add(0.1, 0.2), 0.3)\n\ntest()", True),
        ("def test():\n    assert add(1, 2) == 4\n\ntest()", False),
        ("total = sum(add(n, n) for n in range(5))\nassert total == 20, total", True),
        ("if add(1, 2) != 4:\n    raise ValueError('no')", False),
        ("from unittest import TestCase\nTestCase().assertEqual(add(1, 2), 3)", True),
        ("", True),  # as there: the program runs
    ],
)
def test_test_code_of_every_kind(test: str, right: bool) -> None:
    pass_at_k, said = compute([RIGHT], test, k=[1])
    assert pass_at_k == {"pass@1": float(right)}, said


def test_harnesses_that_ask_whether_it_works_are_answered() -> None:
    assert compute([""], "")[0] == {"pass@1": 1.0}


def test_programs_are_run_as_they_are_written() -> None:
    fenced = f"```python\n{RIGHT}\n```"
    assert compute([fenced], ADD)[1][0].startswith("failed: SyntaxError")


def test_candidates_neither_see_the_tests_nor_leave() -> None:
    cheats = [
        "import os\nos._exit(0)",
        "import sys\nsys.exit(0)",
        "class Yes:\n    def __eq__(self, other): return True\ndef add(a, b): return Yes()",
        "import builtins\nbuiltins.add = lambda a, b: 5\nraise SystemExit",
    ]
    assert compute(cheats, ADD)[0] == {"pass@1": 0.0}


def test_humaneval() -> None:
    tasks = load("humaneval").tasks[:20]
    references, solutions = [], []
    for task in tasks:
        assert isinstance(task.tests, CheckFunction)
        references.append(f"{task.tests.code}\ncheck({task.entry_point})")
        solutions.append([f"{task.prompt}{task.canonical_solution}", task.prompt])
    pass_at_k, _ = hf_code_eval.compute(solutions, references, k=[1, 2])
    assert pass_at_k == {"pass@1": 0.5, "pass@2": 1.0}


def test_what_we_could_not_judge_is_left_out(
    monkeypatch: pytest.MonkeyPatch, receipt: Callable[..., Receipt]
) -> None:
    real = api._grade

    def grade(options: Any, task: Any, completion: Any) -> Receipt:
        if completion.sample == 1:
            lost = {"bucket": Bucket.HARNESS, "outcome": None, "score": None, "detail": "no disk"}
            return receipt(completion.sample, task_id=task.task_id, **lost)
        return real(options, task, completion)

    monkeypatch.setattr(api, "_grade", grade)
    with pytest.warns(
        UserWarning, match="1 of 3 samples are left out; the first is unscored: no disk"
    ):
        pass_at_k, said = compute([RIGHT, RIGHT, WRONG], ADD, k=[1, 2, 3])
    assert pass_at_k == {"pass@1": 0.5, "pass@2": 1.0}
    assert said[1] == "unscored: no disk"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"predictions": [[RIGHT]], "references": []}, "there are 1 predictions but 0 references"),
        ({"predictions": [RIGHT], "references": [ADD]}, "predictions[0] is a text, not the list of a task's candidates"),
        ({"predictions": [[RIGHT, 3]], "references": [ADD]}, "predictions[0][1] is not a text"),
        ({"predictions": [[RIGHT]], "references": ["assert ("]}, "references[0] is not Python: 'assert ('"),
        ({"predictions": [[RIGHT]], "references": [3]}, "references[0] is not Python: 3"),
        ({"predictions": [[RIGHT]], "references": [ADD], "timeout": 0}, "timeout_s is 0; it must be a number of seconds above 0"),
        ({"predictions": [[RIGHT]], "references": [ADD], "num_workers": 0}, "num_workers is 0; it must be at least 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        hf_code_eval.compute(**given)
    assert str(caught.value) == said


def test_no_candidates_at_all() -> None:
    assert hf_code_eval.compute([], []) == ({}, {})
    assert hf_code_eval.compute([[]], [ADD]) == ({}, {})


def test_no_variable_has_to_allow_it() -> None:
    code = f"from proctor.integrations.hf_code_eval import compute\nprint(compute([[{RIGHT!r}]], [{ADD!r}])[0])"
    environment = {name: v for name, v in os.environ.items() if name != "HF_ALLOW_CODE_EVAL"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout == "{'pass@1': 1.0}\n"
