"""Lines about answers that tests must reject: empty ones, wrong ones, lazy ones."""

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping

from proctor.checks.contract.evidence import Contract, Evidence, answer_task, is_our_failure
from proctor.checks.contract.references import describe_answers
from proctor.checks.contract.result import Status
from proctor.extraction.python.syntax import parse
from proctor.languages import get_language
from proctor.records.completion import Completion
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, CallCases, StdinCases, Task
from proctor.records.verdict import Bucket

EMPTY = {"nothing": "", "white space": " \n\n", "an empty fence": "```\n```\n"}
CONSTANTS = ("None", "True", "False", "''", "[]")
WORDS = ("0", "1", "YES", "NO")
Answers = Mapping[str, tuple[str, bool]]
"""Kind of answer → its text, and whether that is a whole program."""
MakeAnswers = Callable[[Task], Answers]
ECHO = "import sys\nsys.stdout.write(sys.stdin.read())\n"


def empty(exam: Contract) -> Evidence:
    """Give three kinds of empty answers to every task; each must end as no_code."""
    return _rejected(exam, "empty", lambda _: {name: (text, False) for name, text in EMPTY.items()})


def wrong(exam: Contract) -> Evidence:
    """Run every wrong solution; each must fail for the reason that it names."""
    every = {task.task_id: task for task in exam.benchmark.tasks if task.wrong_solutions}
    if not every:
        return Evidence(Status.DOES_NOT_APPLY, "no task has wrong_solutions")
    bad: dict[str, str] = {}
    unscored: dict[str, str] = {}
    answers = (
        answer_task(task, one.code, sample)
        for task in every.values()
        for sample, one in enumerate(task.wrong_solutions)
    )
    for receipt in exam.grade(exam.benchmark, answers):
        solution = every[receipt.task_id].wrong_solutions[receipt.sample]
        if is_our_failure(receipt):
            unscored[receipt.task_id] = receipt.detail
        elif receipt.bucket is Bucket.PASSED:
            bad[receipt.task_id] = f"its wrong solution {solution.name!r} passes"
        elif receipt.bucket not in (solution.bucket, Bucket.BENCHMARK):
            why = f"{describe_answers(receipt)}, not {solution.bucket}"
            bad[receipt.task_id] = f"its wrong solution {solution.name!r} ends as {why}"
    count = sum(len(task.wrong_solutions) for task in every.values())
    good = f"{count} wrong solutions of {len(every)} tasks are rejected"
    return exam.evidence_for("wrong", bad, unscored=unscored, good=good)


def lazy(exam: Contract) -> Evidence:
    """Run stubs that return a constant or their argument, and the prompt itself."""
    return _rejected(exam, "lazy", lazies)


def _rejected(exam: Contract, line: str, make: MakeAnswers) -> Evidence:
    """Run answers that tests must reject."""
    names: dict[tuple[str, int], str] = {}
    bad: dict[str, tuple[int, str]] = {}
    unscored: dict[str, str] = {}

    def answers() -> Iterator[Completion]:
        for task in exam.benchmark.tasks:
            for sample, (name, (text, whole)) in enumerate(make(task).items()):
                names[task.task_id, sample] = name
                yield answer_task(task, text, sample, whole=whole)

    count = 0
    for receipt in exam.grade(exam.benchmark, answers()):
        count += 1
        task_id, sample = receipt.task_id, receipt.sample
        name = names.pop((task_id, sample))
        if is_our_failure(receipt):
            unscored[task_id] = receipt.detail
            continue
        why = None
        if receipt.bucket is Bucket.PASSED:
            why = f"{name} passes {_tests(receipt)}"
        elif line == "empty" and receipt.bucket is not Bucket.NO_CODE:
            why = f"{name} ends as {describe_answers(receipt)}, not no_code"
        if why is not None:
            bad[task_id] = min(bad.get(task_id, (sample, why)), (sample, why))
    good = f"{count} answers to {len(exam.benchmark.tasks)} tasks are rejected"
    whys = {task_id: why for task_id, (_, why) in bad.items()}
    return exam.evidence_for(line, whys, unscored=unscored, good=good)


def _tests(receipt: Receipt) -> str:
    count = len(receipt.tests)
    return f"all of {count} tests" if count > 1 else "its only test"


def lazies(task: Task) -> Answers:
    """Return the lazy answers to a task."""
    prompt = {"the prompt alone": (task.prompt, False)}
    if task.language != "python":
        return {"a program of nothing": ("\n", True), **prompt, **_closed(task)}
    if isinstance(task.tests, StdinCases):
        words = {f"print({word!r})": (f"print({word!r})\n", True) for word in WORDS}
        return {"pass": ("pass\n", True), "echo": (ECHO, True), **words, **prompt}
    stubs = {
        f"return {what}": (stub(task, what), True)
        for what in (*CONSTANTS, "args[0] if args else kwargs")
        if stub(task, what)
    }
    return {"pass": ("    pass\n", False), **stubs, **prompt}


def _closed(task: Task) -> Answers:
    """Return the prompt with an empty body, in languages with braces."""
    language = get_language(task.language)
    if not language.has_braces or isinstance(task.tests, StdinCases):
        return {}
    depth = language.lexer.depth_after(task.prompt)
    return {"an empty body": ("\n" + "}\n" * depth, False)} if depth > 0 else {}


def stub(task: Task, returns: str) -> str:
    """Return code that defines every tested function; each returns the same expression."""
    lines = []
    for owner, name in sorted(called_functions(task)):
        if owner:
            lines += [f"class {owner}:", f"    def {name}(self, *args, **kwargs):"]
            lines.append(f"        return {returns}")
        else:
            lines += [f"def {name}(*args, **kwargs):", f"    return {returns}"]
    return "\n".join(lines) + "\n" if lines else ""


def called_functions(task: Task) -> set[tuple[str, str]]:
    """Return the functions that tests call, as pairs of class and name; no class: ''."""
    entry = task.entry_point
    if entry is None and isinstance(task.tests, CallCases):
        entry = task.tests.fn_name
    if entry is not None:
        found = re.fullmatch(r"(?:(\w+)\(\)\.)?(\w+)", entry.strip())
        return {(found[1] or "", found[2])} if found else set()
    match task.tests:
        case Assertions(targets=targets):
            return {("", name) for target in targets for name in _functions(target)}
    return set()


def _functions(target: str) -> Iterator[str]:
    """Yield the names of functions that a test calls and Python does not have."""
    tree = parse(target.strip())
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
                yield name
