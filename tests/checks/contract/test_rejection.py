"""Lazy answers are programs, and define what the tests call."""

import ast
from typing import Any

import pytest

from proctor.checks.contract.rejection import called_functions, lazies, stub
from proctor.records.task import Assertions, CallCases, StdinCases, Task, UnitTests
from proctor.records.task import TestProgram as ProgramTests  # pytest would take it for a test


def task(tests: Any, **more: Any) -> Task:
    return Task(task_id="a", tests=tests, **more)


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (task(Assertions(targets=["x"]), entry_point="f"), {("", "f")}),
        (task(Assertions(targets=["x"]), entry_point="Solution().f"), {("Solution", "f")}),
        (task(Assertions(targets=["f(g(1)) == max(2, 3)", "assert h(1)"])), {("", "f"), ("", "g"), ("", "h")}),
        (task(Assertions(targets=["not python ("])), set()),
        (task(CallCases(fn_name="f", inputs=[[1]], outputs=[1])), {("", "f")}),
        (task(Assertions(targets=["x"]), entry_point="make()[0].f"), set()),
        (task(UnitTests(code="x")), set()),
    ],
)  # fmt: skip
def test_what_tests_call(one: Task, names: set[tuple[str, str]]) -> None:
    assert called_functions(one) == names


@pytest.mark.parametrize("entry", ["f", "Solution().f"])
def test_a_stub_answers_every_call(entry: str) -> None:
    space: dict[str, Any] = {}
    exec(
        stub(task(Assertions(targets=["x"]), entry_point=entry), "args[0] if args else kwargs"),
        space,
    )
    assert eval(entry, space)(7) == 7
    assert eval(entry, space)(n=7) == {"n": 7}


@pytest.mark.parametrize(
    "one",
    [
        task(Assertions(targets=["x"]), entry_point="f", prompt="def f(a):\n"),
        task(StdinCases(inputs=["1"], outputs=["2"]), prompt="Do it."),
        task(UnitTests(code="x")),
    ],
)
def test_lazy_answers_are_programs(one: Task) -> None:
    answers = lazies(one)
    assert "the prompt alone" in answers
    for text, whole in answers.values():
        if whole:
            ast.parse(text)


def test_an_empty_body_closes_what_the_prompt_opened() -> None:
    one = task(
        ProgramTests(code="int main() {}"), language="cpp", prompt="namespace a { int f() {\n"
    )
    assert lazies(one)["an empty body"] == ("\n}\n}\n", False)
    assert "an empty body" not in lazies(
        task(StdinCases(inputs=["1"], outputs=["2"]), language="bash")
    )
