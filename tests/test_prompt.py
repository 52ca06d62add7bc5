"""A model is shown the task's prompt and nothing else."""

from hashlib import sha256

from proctor.prompt import render
from proctor.task import Assertions, Task


def test_render_shows_the_prompt_as_it_is() -> None:
    text = 'def f(x):\n    """é"""\n'
    prompt = render(Task(task_id="a", prompt=text, tests=Assertions(targets=["f(1)"])))
    assert (prompt.task_id, prompt.text) == ("a", text)
    assert prompt.sha256 == sha256(text.encode()).hexdigest()


def test_nothing_of_the_tests_is_shown() -> None:
    task = Task(task_id="a", tests=Assertions(targets=["secret"]), canonical_solution="secret")
    assert "secret" not in render(task).text


def test_half_a_surrogate_pair_has_a_digest_too() -> None:
    task = Task(task_id="a", prompt="\ud800", tests=Assertions(targets=["f(1)"]))
    assert len(render(task).sha256) == 64
