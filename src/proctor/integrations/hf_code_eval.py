"""`code_eval` of Hugging Face's `evaluate`: the same arguments and the same shape of results.

    from proctor.integrations import hf_code_eval
    pass_at_k, results = hf_code_eval.compute(references=[…], predictions=[[…]], k=[1, 10])

Candidates run in the sandbox and never see the tests, so no environment variable has to allow it.
A sample that we could not judge counts for nothing: it is left out of pass@k, a warning says so,
and its result begins with `unscored`.
"""

import ast
import warnings
from collections.abc import Iterator, Sequence
from typing import TypedDict

from proctor.api import Pair, grade_many, limits_of
from proctor.errors import InputError
from proctor.extraction.python.syntax import parse
from proctor.grading.prepare import Options
from proctor.integrations.dataset_columns import entry_of
from proctor.records.completion import Completion
from proctor.records.limits import DEFAULT_SECONDS, Limits
from proctor.records.receipt import Receipt
from proctor.records.task import Assertions, CheckFunction, Task
from proctor.records.verdict import Outcome
from proctor.results.pass_at_k import pass_at_k_estimator
from proctor.storage.jsonl import shorten


class Result(TypedDict):
    """What became of one candidate."""

    task_id: int
    passed: bool
    result: str
    completion_id: int


Results = dict[int, list[tuple[int, Result]]]


def compute(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Sequence[int] = (1, 10, 100),
    num_workers: int = 4,
    timeout: float = DEFAULT_SECONDS,
) -> tuple[dict[str, float], Results]:
    """Run candidates against tests and return pass@k with the result of every candidate.

    `predictions` has a list of programs for each of `references`, which is test code for them. A
    k that some task has too few candidates for is left out.
    """
    if len(predictions) != len(references):
        raise InputError(
            f"there are {len(predictions)} predictions but {len(references)} references"
        )
    if num_workers < 1:
        raise InputError(f"num_workers is {num_workers}; it must be at least 1")
    limits = limits_of(timeout)
    tasks = [_task(place, reference, limits) for place, reference in enumerate(references)]
    samples = list(_samples(tasks, predictions))
    receipts = grade_many(samples, Options(reuse=False, workers=num_workers))
    results: Results = {}
    scored: dict[int, list[bool]] = {}
    for receipt in receipts:
        place = int(receipt.task_id)
        results.setdefault(place, []).append((receipt.sample, _result(place, receipt)))
        verdicts = scored.setdefault(place, [])
        if receipt.outcome is not None:
            verdicts.append(receipt.outcome is Outcome.PASS)
    _warn(results)
    fewest = min(map(len, scored.values()), default=0)
    usable = [size for size in k if size <= fewest]
    estimates = pass_at_k_estimator(scored, usable) if usable else {}
    return {f"pass@{size}": value for size, value in estimates.items()}, results


def _task(place: int, reference: str, limits: Limits) -> Task:
    """Make a task of test code; asserts and `check(name)` may need no examiner."""
    tree = parse(reference) if isinstance(reference, str) else None
    if tree is None:
        raise InputError(f"references[{place}] is not Python: {shorten(reference)}")
    if tree.body and all(isinstance(node, ast.Assert) for node in tree.body):
        targets = [ast.unparse(node) for node in tree.body]
        return Task(task_id=str(place), tests=Assertions(targets=targets), limits=limits)
    tests = CheckFunction(code=reference)
    entry_point = entry_of(reference)
    return Task(task_id=str(place), entry_point=entry_point, tests=tests, limits=limits)


def _samples(tasks: Sequence[Task], predictions: Sequence[Sequence[str]]) -> Iterator[Pair]:
    for task, candidates in zip(tasks, predictions, strict=True):
        if isinstance(candidates, str):
            raise InputError(
                f"predictions[{task.task_id}] is a text, not the list of a task's candidates"
            )
        for place, text in enumerate(candidates):
            if not isinstance(text, str):
                raise InputError(f"predictions[{task.task_id}][{place}] is not a text")
            yield (
                task,
                Completion(
                    task_id=task.task_id,
                    sample=place,
                    id=f"{task.task_id}_s{place}",
                    completion=text,
                    whole=True,
                ),
            )


def _result(place: int, receipt: Receipt) -> Result:
    match receipt.outcome:
        case Outcome.PASS:
            said = "passed"
        case Outcome.TIMEOUT:
            said = "timed out"
        case None:
            said = f"unscored: {receipt.detail}"
        case _:
            said = f"failed: {receipt.detail}"
    passed = receipt.outcome is Outcome.PASS
    return Result(task_id=place, passed=passed, result=said, completion_id=receipt.sample)


def _warn(results: Results) -> None:
    said = [one["result"] for of_task in results.values() for _, one in of_task]
    missing = [text for text in said if text.startswith("unscored")]
    if missing:
        warnings.warn(
            f"{len(missing)} of {len(said)} samples are left out; the first is {missing[0]}",
            stacklevel=3,
        )
