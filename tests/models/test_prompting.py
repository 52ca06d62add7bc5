"""What a model is shown: the task, worded by a strategy, and no more of its tests than asked."""

from hashlib import sha256
from typing import get_args

import msgspec
import pytest

from proctor.errors import InputError
from proctor.models.prompting import Strategy, TestsShown, render_prompt
from proctor.records import task as tasks
from proctor.records.task import Assertions, CallCases, StdinCases, Task

CODE = Task(
    task_id="a",
    prompt='def f(x):\n    """Double it."""\n',
    entry_point="f",
    tests=Assertions(targets=["f(1) == 2"]),
    canonical_solution="    return 2 * x",
)
PROSE = Task(
    task_id="b",
    prompt="Write a function that doubles a number.",
    entry_point="double",
    tests=Assertions(targets=["double(1) == 2", "assert double(0) == 0"]),
)


def test_render_shows_the_prompt_as_it_is() -> None:
    text = 'def f(x):\n    """é"""\n'
    prompt = render_prompt(Task(task_id="a", prompt=text, tests=Assertions(targets=["f(1)"])))
    assert (prompt.task_id, prompt.text) == ("a", text.rstrip()), "the model ends the line"
    assert prompt.sha256 == sha256(prompt.text.encode()).hexdigest()


def test_nothing_of_the_tests_is_shown() -> None:
    task = Task(task_id="a", tests=Assertions(targets=["secret"]), canonical_solution="secret")
    assert "secret" not in render_prompt(task).text


def test_half_a_surrogate_pair_has_a_digest_too() -> None:
    task = Task(task_id="a", prompt="\ud800", tests=Assertions(targets=["f(1)"]))
    assert len(render_prompt(task).sha256) == 64


@pytest.mark.parametrize("strategy", get_args(Strategy))
def test_every_strategy_asks_for_one_block_of_code_and_shows_the_task(strategy: Strategy) -> None:
    prompt = render_prompt(CODE, strategy, chat=True)
    role, words = prompt.turns[-1]
    assert role == "user"
    assert CODE.prompt.rstrip() in words
    assert words.endswith("Answer with the whole code, with its imports, in one ```python block.")
    assert "f(1) == 2" not in prompt.text, "code says what it is called; tests are not shown"
    assert "return 2 * x" not in prompt.text


def test_strategies_differ_and_so_do_their_digests() -> None:
    prompts = [render_prompt(CODE, strategy, chat=True) for strategy in get_args(Strategy)]
    assert len({prompt.sha256 for prompt in prompts}) == len(prompts)


def test_scot_asks_for_structure_and_cgo_for_objectives() -> None:
    words = render_prompt(CODE, "scot", chat=True).text
    assert words.index("Input:") < words.index("Output:") < words.index("`for` or `while`")
    assert "objectives" in render_prompt(CODE, "cgo", chat=True).text


def test_worked_examples_come_first_and_work() -> None:
    prompt = render_prompt(CODE, "few-shot", chat=True)
    assert [role for role, _ in prompt.turns] == ["user", "assistant", "user", "assistant", "user"]
    for role, words in prompt.turns:
        if role == "assistant":
            code = words.removeprefix("```python\n").removesuffix("```")
            names: dict[str, object] = {}
            exec(code, names)
    base = render_prompt(CODE, "few-shot")
    assert base.text.endswith(CODE.prompt.rstrip())
    assert base.text.startswith("def running_max")


@pytest.mark.parametrize("strategy", ["scot", "cgo"])
def test_a_model_that_goes_on_with_a_text_does_not_think(strategy: Strategy) -> None:
    with pytest.raises(
        InputError, match=f"--prompt-strategy {strategy}: only for models that chat"
    ):
        render_prompt(CODE, strategy)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize(
    ("shown", "name", "tests"), [("name", 1, 0), ("name+tests", 1, 1), ("plain", 0, 0)]
)
def test_prose_tells_as_much_of_its_tests_as_asked(
    chat: bool, shown: TestsShown, name: int, tests: int
) -> None:
    words = render_prompt(PROSE, chat=chat, shown=shown).text
    assert words.count("It must be called as `double`.") == name
    assert words.count("assert double(1) == 2\nassert double(0) == 0") == tests


def test_programs_and_calls() -> None:
    stdin = Task(task_id="c", prompt="Add.", tests=StdinCases(inputs=["1 2"], outputs=["3"]))
    words = render_prompt(stdin, chat=True).text
    assert "standard input" in words
    assert "whole program" in words
    assert render_prompt(stdin).stop == ()
    calls = Task(
        task_id="d", prompt="Add.", tests=CallCases(fn_name="add", inputs=[[1]], outputs=[1])
    )
    assert "It must be called as `add`." in render_prompt(calls, chat=True).text


def test_a_text_to_go_on_with_ends_where_a_model_ends_its_line() -> None:
    for task in (CODE, PROSE):
        assert render_prompt(task).text == render_prompt(task).text.rstrip()
        assert render_prompt(task).stop


def test_other_languages_are_asked_for_by_their_names():
    tests = StdinCases(inputs=[""], outputs=[""])
    task = Task(task_id="t", language="cpp", prompt="int add(int a, int b) {\n", tests=tests)
    asked = render_prompt(task, chat=True).text
    assert "Write a C++ program" in asked
    assert "```cpp block" in asked
    code = msgspec.structs.replace(task, tests=tasks.TestProgram(code="int main() {}"))
    asked = render_prompt(code, chat=True).text
    assert "Complete this C++ code:\n\n```cpp\nint add(int a, int b) {\n```" in asked
    assert "ython" not in asked
    assert render_prompt(code).text == "int add(int a, int b) {"
    prose = msgspec.structs.replace(code, prompt="Add */ two numbers.")
    assert render_prompt(prose).text == "/*\nAdd * / two numbers.\n*/\n"
    with pytest.raises(InputError, match="its examples are not in cpp"):
        render_prompt(code, "few-shot")
