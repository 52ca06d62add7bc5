"""Tasks files: one task a line, in the format of the reference documentation."""

import ast
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.benchmarks.repository_tasks import ContextRow, repository_of
from proctor.errors import InputError
from proctor.extraction.python.syntax import bound_names, parse
from proctor.judge.checker import find_checker_problem
from proctor.judge.comparators import parse_profile
from proctor.languages import all_languages, get_language, unknown_language
from proctor.records.limits import Limits
from proctor.records.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Compare,
    Metadata,
    StdinCases,
    Task,
    TestProgram,
    Tests,
    UnitTests,
    WrongSolution,
)
from proctor.records.verdict import OUTCOMES, Outcome
from proctor.sandbox.inside.roles.unit_tests import declared_tests
from proctor.storage.jsonl import Line, shorten

MAX_TIMEOUT = 30.0


class Row(msgspec.Struct, kw_only=True):
    """One line of a tasks file."""

    task_id: str
    tests: Tests
    prompt: str = ""
    preamble: str = ""
    entry_point: str | None = None
    language: str = "python"
    metadata: Metadata = Metadata()
    canonical_solution: str | None = None
    wrong_solutions: list[WrongSolution] = []
    context: ContextRow | None = None
    schema: int = 1


def read(line: Line) -> Task:
    """Read one task and refuse what could never be judged."""
    try:
        return as_task(line.decode(Row))
    except Unusable as error:
        raise line.error(str(error)) from None


class Unusable(InputError):
    """What is wrong with a task, by its field."""


def as_task(row: Row) -> Task:
    """Turn a row into a task, or say what is wrong with it."""
    trouble = _trouble(row)
    if trouble is not None:
        raise Unusable(trouble)
    seconds = row.metadata.timeout_s
    try:
        context = None if row.context is None else repository_of(row.context)
    except ValueError as error:
        raise Unusable(str(error)) from None
    return Task(
        task_id=row.task_id,
        prompt=row.prompt,
        preamble=row.preamble,
        entry_point=row.entry_point,
        tests=row.tests,
        language=row.language,
        metadata=row.metadata,
        canonical_solution=row.canonical_solution,
        wrong_solutions=row.wrong_solutions,
        context=context,
        limits=Limits() if seconds is None else Limits().with_seconds(seconds),
    )


def _trouble(row: Row) -> str | None:
    """Say what is wrong with a task, naming the field."""
    seconds = row.metadata.timeout_s
    if not row.task_id:
        return "task_id is empty"
    if seconds is not None and not 0 < seconds <= MAX_TIMEOUT:
        return f"metadata.timeout_s is {seconds:g}; it must be above 0 and at most {MAX_TIMEOUT:g}"
    if row.schema != 1:
        return f"schema is {row.schema}; this version knows 1"
    if row.language not in all_languages():
        return f"language is {shorten(row.language)}; {unknown_language(row.language)}"
    if row.context is not None and (
        row.language != "cpp" or not isinstance(row.tests, TestProgram)
    ):
        return "context is for tasks in cpp whose tests.kind is 'program'"
    if row.language != "python":
        return _bad_wrong_solution(row.wrong_solutions) or _bad_foreign_tests(row)
    if row.entry_point is not None and not is_expression(row.entry_point):
        return f"entry_point: {shorten(row.entry_point)} names no function"
    if parse(row.preamble) is None:
        return "preamble is not Python"
    if parse(row.tests.setup) is None:
        return "tests.setup is not Python"
    return _bad_wrong_solution(row.wrong_solutions) or _bad_tests(row)


def _bad_wrong_solution(solutions: Sequence[WrongSolution]) -> str | None:
    for index, solution in enumerate(solutions):
        if OUTCOMES[solution.bucket] in (None, Outcome.PASS):
            return f"wrong_solutions[{index}].bucket is {solution.bucket}, which rejects nothing"
    return None


def _bad_tests(row: Row) -> str | None:
    match row.tests:
        case Assertions(targets=targets, compare=compare):
            return _no_compare(compare) or bad_targets("tests.targets", targets)
        case CheckFunction(code=code, compare=compare):
            return _no_compare(compare) or _bad_check(code, row.entry_point)
        case CallCases() as cases:
            return _bad_cases(cases) or _bad_calls(cases)
        case StdinCases() as cases:
            return _bad_cases(cases) or _uneven(cases.inputs, outputs=cases.outputs)
        case UnitTests(code=code, compare=compare):
            return _no_compare(compare) or _bad_unit_tests(code)
    kind = type(row.tests).__struct_config__.tag
    return f"tests.kind is {kind!r}; in Python there are assertions, check, calls, stdin, unittest"


def _bad_foreign_tests(row: Row) -> str | None:
    """Say what is wrong with the tests of a task in another language than Python."""
    match row.tests:
        case StdinCases() as cases:
            return _bad_cases(cases) or _uneven(cases.inputs, outputs=cases.outputs)
        case TestProgram(code=code, compare=compare):
            return _no_compare(compare) or _bad_program(row.language, code)
    kind = type(row.tests).__struct_config__.tag
    return f"tests.kind is {kind!r}; in {row.language} there are stdin and program"


def _bad_program(language: str, code: str) -> str | None:
    harness = get_language(language).harness
    if harness is None:
        return f"tests.kind is 'program'; in {language} there is stdin only"
    if harness.heads and re.search(harness.heads, code, re.MULTILINE) is None:
        return "tests.code has no test function"
    return None if code.strip() else "tests.code is empty"


def is_expression(text: str) -> bool:
    """Say whether a text is one Python expression, as `add` or `Solution().add`."""
    match parse(text.strip()):
        case ast.Module(body=[ast.Expr()]):
            return True
    return False


def bad_targets(field: str, targets: Sequence[str]) -> str | None:
    """Say what is wrong with a list of assertions."""
    if not targets:
        return f"{field} is empty"
    for index, target in enumerate(targets):
        tree = parse(target.strip())
        if tree is None or not tree.body:
            return f"{field}[{index}] is not a Python assertion or expression"
    return None


def _no_compare(compare: Compare | None) -> str | None:
    if compare is None:
        return None
    return "tests.compare has no meaning here: assertions compare by themselves"


def _bad_cases(cases: CallCases | StdinCases) -> str | None:
    if cases.max_tests is not None and cases.max_tests < 1:
        return f"tests.max_tests is {cases.max_tests}; it must be above 0"
    return _bad_compare(cases.compare)


def _bad_compare(compare: Compare | None) -> str | None:
    if isinstance(compare, dict):
        if list(compare) != ["checker"]:
            return 'tests.compare must be the name of a profile or {"checker": code}'
        trouble = find_checker_problem(compare["checker"])
        return None if trouble is None else f"tests.compare.checker {trouble}"
    try:
        parse_profile(compare, default="exact")
    except InputError as error:
        return f"tests.{error}"
    return None


def _bad_check(code: str, entry_point: str | None) -> str | None:
    if entry_point is None:
        return "entry_point is missing, and tests of kind check need it"
    tree = parse(code)
    if tree is None or "check" not in bound_names(tree):
        return "tests.code is not Python that defines check(candidate)"
    return None


def _bad_unit_tests(code: str) -> str | None:
    tree = parse(code)
    if tree is None or not declared_tests(tree):
        return "tests.code is not Python that declares tests, as unittest or pytest have them"
    return None


def _bad_calls(cases: CallCases) -> str | None:
    if not is_expression(cases.fn_name):
        return f"tests.fn_name: {shorten(cases.fn_name)} names no function"
    place = cases.compare_argument
    for index, given in enumerate(cases.inputs):
        if place is not None and not 0 <= place < len(given):
            return f"tests.compare_argument is {place}, but inputs[{index}] has {len(given)}"
    return _uneven(cases.inputs, outputs=cases.outputs, kwargs=cases.kwargs)


def _uneven(inputs: Sequence[Any], **others: Sequence[Any] | None) -> str | None:
    if not inputs:
        return "tests.inputs is empty"
    for name, other in others.items():
        if other is not None and len(other) != len(inputs):
            return f"tests has {len(inputs)} inputs but {len(other)} {name}"
    return None
