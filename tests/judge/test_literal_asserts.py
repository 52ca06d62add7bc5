"""Which tests need no examiner, and that it makes no difference."""

import ast
import gzip
import json

import pytest

from proctor.judge.literal_asserts import NotPlainError, constant_value, reduce_to_cases
from proctor.records.task import Assertions, CheckFunction, Task


def assertions(*targets, entry_point="f", **kwargs):
    return Task(task_id="t", entry_point=entry_point, tests=Assertions(targets=targets, **kwargs))


def check(body, entry_point="f", before="", after=""):
    lines = "".join(f"    {line}\n" for line in body)
    code = f"{before}def check(candidate):\n{lines}{after}"
    return Task(task_id="t", entry_point=entry_point, tests=CheckFunction(code=code))


def test_calls_compared_with_literals_become_cases():
    cases = reduce_to_cases(
        assertions(
            "f(1, [2], x='a') == {'k': (3,)}", "assert f() is None", "f(-1)", "assert not f(2.5)"
        )
    )
    assert [(c.index, c.target, c.args, c.kwargs, c.relation, c.expected) for c in cases] == [
        (0, "f", [1, [2]], {"x": "a"}, "equals", {"k": (3,)}),
        (1, "f", [], {}, "is", None),
        (2, "f", [-1], {}, "true", None),
        (3, "f", [2.5], {}, "false", None),
    ]


@pytest.mark.parametrize(
    "target",
    [
        "abs(f(1) - 2) > 1e-6",
        "abs(f(1) + 2) < 1e-6",
        "abs(f(1) - 2) < 1e-6 < 3",
        "abs(f(1) - [2]) < 1e-6",
        "abs(f(1) - True) < 1e-6",
        "abs(2 - f(1)) < 1e-6",
        "abs(f(1) - 2, 3) < 1e-6",
        "f(1) != 2",
        "f(1) == f(2)",
        "f(x) == 2",
        "f(*[1]) == 2",
        "f(**{'a': 1}) == 2",
        "f(1) == 2 and f(2) == 3",
        "2 == f(1)",
        "set(f(1)) == {1}",
        "g(1) == 2",
        "f(1) is 5",
        "f(1) == 9 ** 99",
        "f('a' * 100000) == 1",
        "f([0] * 10**9) == 1",
        "x = f(1)\nassert x == 2",
        "f(1) == lambda: 0",
        "not a python (",
    ],
)
def test_everything_else_is_left_to_the_examiner(target):
    assert reduce_to_cases(assertions(target)) is None


def test_set_up_code_needs_an_examiner():
    assert reduce_to_cases(assertions("f(1) == 2", setup="x = 1")) is None


def test_without_an_entry_point_every_name_but_a_builtin_is_the_candidates():
    assert reduce_to_cases(assertions("g(1) == 2", entry_point=None))[0].target == "g"
    assert reduce_to_cases(assertions("len(1) == 2", entry_point=None)) is None


def test_an_entry_point_may_have_a_builtins_name():
    assert reduce_to_cases(assertions("sum(1, 2) == 3", entry_point="sum"))[0].target == "sum"


def test_check_functions_reduce_to_calls_of_the_entry_point():
    cases = reduce_to_cases(
        check(["'''doc'''", "assert candidate(1) == 2, 'why'", "assert True", "assert f(2) == 3"])
    )
    assert [(c.target, c.args, c.expected) for c in cases] == [("f", [1], 2), ("f", [2], 3)]
    assert reduce_to_cases(check(["pass", "assert candidate(1) == 2"], before="METADATA = {}\n\n"))
    assert reduce_to_cases(check(["assert f(1) == 2"], after="\ncheck(f)\n"))
    expression = reduce_to_cases(check(["assert candidate(1) == 2"], entry_point="Solution().f"))
    assert expression[0].target == "Solution().f"


@pytest.mark.parametrize(
    "task",
    [
        check(["for x in [1]:", "    assert candidate(x) == 2"]),
        check(["x = candidate(1)", "assert x == 2"]),
        check(["assert candidate(1) == 2"], before="import math\n"),
        check(["assert candidate(1) == 2"], after="\ncheck(g)\n"),
        check(["assert (candidate(1) == 2, 'always true')"]),
        Task(task_id="t", entry_point="f", tests=CheckFunction(code="x = 1")),
        Task(task_id="t", entry_point="f", tests=CheckFunction(code="def check(")),
    ],
)
def test_other_check_functions_do_not_reduce(task):
    assert reduce_to_cases(task) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 * 19 * 3", 171),
        ("'ab' + 'cd'", "abcd"),
        ("[1] * 3", [1, 1, 1]),
        ("2.0 / 3.0", 2.0 / 3.0),
        ("set()", set()),
        ("[-1, (2, 3 * 4)]", [-1, (2, 12)]),
        ("frozenset()", frozenset()),
        ("[0**0, 2**10, 1.5**2]", [1, 1024, 2.25]),
    ],
)
def test_small_constants_are_folded(text, value):
    assert constant_value(ast.parse(text, mode="eval").body) == value


@pytest.mark.parametrize(
    "text",
    [
        "'a' * 10**6",
        "10**9 * 'a'",
        "1 / 0",
        "9**9**9",
        "2**-1",
        "4**0.5",
        "10.0**64 ** 64",
        "'a' ** 2",
        "2**64 * 2**64 * 3",
        "[0] * -1 + 'a'",
    ],
)
def test_folding_never_grows_nor_raises_anything_else(text):
    with pytest.raises(NotPlainError):
        constant_value(ast.parse(text, mode="eval").body)


def test_most_of_the_real_benchmarks_needs_no_examiner(data):
    rows = [json.loads(line) for line in gzip.open(data / "humaneval" / "HumanEval.jsonl.gz")]
    tasks = [
        Task(
            task_id=r["task_id"], entry_point=r["entry_point"], tests=CheckFunction(code=r["test"])
        )
        for r in rows
    ]
    assert sum(reduce_to_cases(task) is not None for task in tasks) >= 149


def test_a_set_in_a_test_is_the_set_that_python_would_make():
    text = "{12, 13, 14, 15, 16}"
    assert list(constant_value(ast.parse(text, mode="eval").body)) == list(eval(text))
    assert constant_value(ast.parse("{1: {2, 3}, 'a': [{4}]}", mode="eval").body) == {
        1: {2, 3},
        "a": [{4}],
    }


def test_numbers_near_another_are_compared_here():
    near, within = reduce_to_cases(assertions("abs(f(1) - 2.0/3.0) < 1e-6", "abs(f(1) - -2) <= 1"))
    assert (near.relation, near.expected, near.tolerance) == ("near", 2 / 3, 1e-6)
    assert (within.relation, within.expected, within.tolerance) == ("within", -2, 1)
    assert reduce_to_cases(assertions("abs(abs(1) - 2) < 1", entry_point="abs")) is None


def test_a_name_that_nobody_calls_is_no_test():
    code = "def check(candidate):\n    print\n    assert candidate(1) == 2\n"
    task = Task(task_id="t", entry_point="f", tests=CheckFunction(code=code))
    assert len(reduce_to_cases(task)) == 1
