"""Lines about extraction: the reference is found again in all that models put around code."""

import json
from collections.abc import Callable, Iterator, Mapping

import msgspec

from proctor.checks.contract.evidence import Contract, Evidence, answer_task, is_our_failure
from proctor.checks.contract.references import describe_answers
from proctor.checks.contract.result import Status
from proctor.extraction import extract
from proctor.extraction.assemble import assemble, reference_program
from proctor.languages import get_language
from proctor.records.extraction import Extraction, NoCode
from proctor.records.program import Program
from proctor.records.task import StdinCases, Task
from proctor.records.verdict import Bucket

Form = Callable[[Task, str], str]


def _call(code: str) -> str:
    return json.dumps({"name": "submit", "arguments": {"code": code}})


def _text_call(code: str) -> str:
    return json.dumps({"name": "submit", "arguments": json.dumps({"code": code})})


FENCES: Mapping[str, Form] = {
    "a fence in prose": lambda task, code: (
        f"Here is a solution:\n\n```{task.language}\n{code}\n```\n\nIt does what was asked."
    ),
    "a fence without a tag": lambda _, code: f"```\n{code}\n```",
    "a fence behind reasoning": lambda task, code: (
        f"<think>\nI could write `x`.\n</think>\n\n```{task.language}\n{code}\n```\n"
    ),
}
WRAPPERS: Mapping[str, Form] = {
    "a call of a tool": lambda _, code: _call(code),
    "a call with its arguments as text": lambda _, code: _text_call(code),
    "a call in <tool_call>": lambda _, code: f"<tool_call>\n{_call(code)}\n</tool_call>",
    "<code>": lambda _, code: f"<code>\n{code}\n</code>",
    "<answer> behind prose": lambda _, code: f"I think so.\n\n<answer>\n{code}\n</answer>",
}


def fences(exam: Contract) -> Evidence:
    """Put every reference between fences."""
    return _found_again(exam, "fences", FENCES)


def wrappers(exam: Contract) -> Evidence:
    """Put every reference into calls of tools and tags."""
    return _found_again(exam, "wrappers", WRAPPERS)


def braces(exam: Contract) -> Evidence:
    """Count braces of examples, and find the end of every reference that goes on a prompt."""
    names = sorted(exam.benchmark.languages)
    ours = [language for language in map(get_language, names) if language.has_braces]
    if not ours:
        return Evidence(Status.DOES_NOT_APPLY, "no task is in a language with braces")
    for language in ours:
        depth = language.lexer.depth_after(language.lexer.example)
        if depth != 1:
            what = f"{language.name}: depth {depth}, not 1, behind {language.lexer.example!r}"
            return Evidence(Status.BROKEN, what)
    return _found_again(exam, "braces", {"a body with prose behind": _body}, only=_goes_on)


def _body(task: Task, code: str) -> str:
    del code
    body = (task.canonical_solution or "").rstrip()
    return body + "\n\nThe last brace } closes the { above.\n"


def _goes_on(task: Task) -> bool:
    """Say whether a reference is the rest of what its prompt began, with braces."""
    if isinstance(task.tests, StdinCases):
        return False
    language = get_language(task.language)
    return language.has_braces and language.lexer.depth_after(task.prompt) > 0


def _found_again(
    exam: Contract,
    line: str,
    forms: Mapping[str, Form],
    only: Callable[[Task], bool] = lambda _: True,
) -> Evidence:
    """Extract every reference from every form; a program that is another one has to pass, too."""
    bad: dict[str, str] = {}
    unscored: dict[str, str] = {}
    others: dict[tuple[str, int], str] = {}
    tasks = {task_id: task for task_id, task in exam.right.items() if only(task)}
    same = 0
    for task in tasks.values():
        for sample, (name, text) in enumerate(_forms(task, forms)):
            found = extract(text, task, truncated=False)
            if isinstance(found, NoCode):
                bad.setdefault(task.task_id, f"no code is found in {name}: {found.reason}")
            elif _is_same(task, found):
                same += 1
            else:
                others[task.task_id, sample] = name
    answers = (
        answer_task(tasks[task_id], dict(_forms(tasks[task_id], forms))[name], sample)
        for (task_id, sample), name in others.items()
    )
    for receipt in exam.grade(exam.benchmark, answers, reuse=True):
        name = others[receipt.task_id, receipt.sample]
        if is_our_failure(receipt):
            unscored[receipt.task_id] = receipt.detail
        elif receipt.bucket is not Bucket.PASSED:
            bad.setdefault(
                receipt.task_id, f"its reference in {name} ends as {describe_answers(receipt)}"
            )
    if not same and not others and not bad:
        return Evidence(Status.DOES_NOT_APPLY, "there is no passing reference to put into anything")
    more = f", {len(others)} as another text that passes" if others else ""
    good = f"{same} answers give the program of the reference{more}"
    return exam.evidence_for(line, bad, unscored=unscored, good=good)


def _forms(task: Task, forms: Mapping[str, Form]) -> Iterator[tuple[str, str]]:
    """Yield the reference in all forms."""
    program = _bare(task)
    code = "" if program is None else program.source
    yield from ((name, form(task, code)) for name, form in forms.items())


def _bare(task: Task) -> Program | None:
    """Return the reference without what Proctor puts in front of every program."""
    return reference_program(msgspec.structs.replace(task, preamble=""))


def _is_same(task: Task, found: Extraction) -> bool:
    own = reference_program(task)
    return own is not None and _plain(assemble(task, found)) == _plain(own)


def _plain(program: Program) -> str:
    """Return a program's text without white space at ends of lines and empty lines."""
    lines = (line.rstrip() for line in program.source.splitlines())
    return "\n".join(line for line in lines if line)
