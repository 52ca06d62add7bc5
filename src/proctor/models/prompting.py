"""Exactly what the model is shown.

A base model gets a text to go on with. A chat model gets turns, worded by a strategy:

    standard   the question, and what the answer should look like
    scot       structured chain of thought: input and output, then branches and loops, then code
    cgo        chain of grounded objectives: what the code must achieve, step by step, then code
    few-shot   two worked examples first

The words are ours and carry a version: whoever changes one changes the version, too.
"""

import re
from collections.abc import Sequence
from typing import Literal

from proctor.errors import InputError
from proctor.languages import get_language
from proctor.records.prompt import Prompt
from proctor.records.repository import MARK
from proctor.records.task import Assertions, CallCases, StdinCases, Task

VERSION = 1
Strategy = Literal["standard", "scot", "few-shot", "cgo"]
TestsShown = Literal["name", "name+tests", "plain"]
"""What a question in prose is told of its tests: the function's name, also the tests, nothing."""

CODE_STOPS = ("\nclass ", "\ndef ", "\n@", "\nif ", "\nprint(", "\nassert ", "\n```")
"""Where a base model that goes on with a function has left it."""

ANSWER = "Answer with the whole {what}, with its imports, in one ```{tag} block."
AT_HOLE = f"code that belongs at {MARK}, and nothing of what stands around it"
STRATEGIES: dict[Strategy, str] = {
    "standard": ANSWER,
    "few-shot": ANSWER,
    "scot": "Think first, in this form:\n"
    "Input: what comes in, and of which types\n"
    "Output: what goes out, and of which type\n"
    "Then the steps in order, numbered. A step that decides begins with `if`, one that repeats "
    "with `for` or `while`, and what belongs to it stands indented below it.\n"
    "Then write the code that follows your steps. " + ANSWER,
    "cgo": "First list the objectives that the code has to reach, from the first to the last, "
    "one line each. Every one of them must rest on a phrase of the question, which you quote.\n"
    "Then write the code, objective by objective. " + ANSWER,
}


def render_prompt(
    task: Task,
    strategy: Strategy = "standard",
    *,
    chat: bool = False,
    shown: TestsShown = "name+tests",
) -> Prompt:
    """Show a task to a model that chats, or to one that goes on with a text."""
    if strategy == "few-shot" and task.language != "python":
        raise InputError(f"--prompt-strategy few-shot: its examples are not in {task.language}")
    if not chat:
        return _continuation(task, strategy, shown)
    turns = [("user", _question(task, strategy, shown))]
    if strategy == "few-shot":
        turns = [*EXAMPLES, *turns]
    return Prompt(task_id=task.task_id, text=_flat(turns), turns=turns)


def _continuation(task: Task, strategy: Strategy, shown: TestsShown) -> Prompt:
    if strategy not in ("standard", "few-shot"):
        raise InputError(f"--prompt-strategy {strategy}: only for models that chat")
    examples = f"{CODE_EXAMPLES}\n" if strategy == "few-shot" else ""
    if _is_code(task):
        # a line's end and the indent behind it are one token, which the model has to begin
        text = examples + task.prompt.rstrip()
        ends = CODE_STOPS if task.language == "python" else ("\n```",)
        return Prompt(task_id=task.task_id, text=text, stop=ends)
    question = "\n".join(filter(None, [task.prompt.strip(), _about_tests(task, shown)]))
    if task.language != "python":
        begin, end = get_language(task.language).block_comment
        quoted = question.replace(end, f"{end[0]} {end[1:]}")
        return Prompt(task_id=task.task_id, text=f"{begin}\n{quoted}\n{end}\n")
    quoted = question.replace('"""', "'''")
    stops = (
        () if isinstance(task.tests, StdinCases) else ("\nassert ", "\nprint(", '\n"""', "\n```")
    )
    return Prompt(task_id=task.task_id, text=f'{examples}"""\n{quoted}\n"""', stop=stops)


def _question(task: Task, strategy: Strategy, shown: TestsShown) -> str:
    how, name = STRATEGIES[strategy], get_language(task.language).title
    if isinstance(task.tests, StdinCases):
        task_text = (
            f"Write a {name} program that solves this problem. It reads standard input and "
            f"writes to standard output.\n\n{task.prompt.strip()}"
        )
        return f"{task_text}\n\n{how.format(what='program', tag=task.language)}"
    if _is_code(task):
        code = f"```{task.language}\n{task.prompt.rstrip()}\n```"
        quoted = f"Complete this {name} code:\n\n{code}"
        return f"{quoted}\n\n{how.format(what='code', tag=task.language)}"
    about = _about_tests(task, shown)
    question = "\n\n".join(filter(None, [task.prompt.strip(), about]))
    if task.context is not None:
        return f"{question}\n\n{how.format(what=AT_HOLE, tag=task.language)}"
    return f"{question}\n\n{how.format(what='code', tag=task.language)}"


def _about_tests(task: Task, shown: TestsShown) -> str:
    """Say what a function must be called and, if that is asked for, what it must pass."""
    name = task.tests.fn_name if isinstance(task.tests, CallCases) else task.entry_point
    if shown == "plain" or name is None:
        return ""
    called = f"It must be called as `{name}`."
    if shown == "name" or not isinstance(task.tests, Assertions):
        return called
    tests = "\n".join(_assertion(target) for target in task.tests.targets)
    return f"{called} It must pass these tests:\n{tests}"


def _assertion(target: str) -> str:
    return target if target.lstrip().startswith("assert") else f"assert {target}"


def _is_code(task: Task) -> bool:
    """Whether a prompt is the beginning of a program rather than prose."""
    language = get_language(task.language)
    if language.has_braces:
        return language.lexer.depth_after(task.prompt) > 0
    named = re.match(r"\w+", task.entry_point or "")
    name = r"\w+" if named is None else re.escape(named[0])
    pattern = rf"^[ \t]*(?:(?:async +)?def|class) +{name}\b"
    return re.search(pattern, task.prompt, re.MULTILINE) is not None


def _flat(turns: Sequence[tuple[str, str]]) -> str:
    return "\n\n".join(text for _, text in turns)


FIRST = '''def running_max(numbers):
    """Return a list of the same length with the largest number so far at every place.

    >>> running_max([3, 1, 4, 1, 5])
    [3, 3, 4, 4, 5]
    """
'''
FIRST_BODY = """    largest = []
    for number in numbers:
        largest.append(number if not largest else max(largest[-1], number))
    return largest
"""
SECOND = '''def initials(name):
    """Return the first letters of all words of a name, in capitals, each with a full stop.

    >>> initials("ada king lovelace")
    'A.K.L.'
    """
'''
SECOND_BODY = """    return "".join(f"{word[0].upper()}." for word in name.split())
"""
CODE_EXAMPLES = f"{FIRST}{FIRST_BODY}\n\n{SECOND}{SECOND_BODY}\n"
EXAMPLES = tuple(
    turn
    for code, body in ((FIRST, FIRST_BODY), (SECOND, SECOND_BODY))
    for turn in (
        (
            "user",
            f"Complete this Python code:\n\n```python\n{code.rstrip()}\n```\n\n"
            + ANSWER.format(what="code", tag="python"),
        ),
        ("assistant", f"```python\n{code}{body}```"),
    )
)
