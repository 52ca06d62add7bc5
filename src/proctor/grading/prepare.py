"""From a completion to a program: the first stage of grading."""

from typing import Literal, NamedTuple

import msgspec

from proctor.extraction import extract
from proctor.extraction.assemble import BASE_IMPORTS, assemble, verbatim
from proctor.judge.judgement import Rules
from proctor.records.completion import Completion, StopReason
from proctor.records.extraction import Extraction, NoCode
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.verdict import Bucket, Failed, Unscored
from proctor.settings import default_workers

Extract = Literal["auto", "never"]
Preamble = Literal["none", "base"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How samples are graded."""

    extract: Extract = "auto"
    preamble: Preamble = "none"
    reuse: bool = True
    workers: int = msgspec.field(default_factory=default_workers)
    rules: Rules = Rules()
    confirm_failures: bool = False
    """Whether a failure counts only if the task's own reference solution does not fail, too."""


class PreparedSample(NamedTuple):
    """A sample and the program to judge, or its verdict if there is nothing to run."""

    task: Task
    completion: Completion
    extraction: Extraction | NoCode
    program: Program | Failed | Unscored


def prepare(task: Task, completion: Completion, options: Options) -> PreparedSample:
    """Extract the code of a completion and assemble the program that it stands for."""
    if completion.stop is StopReason.ERROR:
        reason = f"the model gave no answer: {completion.more.get('error', 'no reason given')}"
        return without_answer(task, completion, Unscored(reason=reason))
    extraction = extract_code(task, completion, options)
    if isinstance(extraction, NoCode):
        verdict = Failed(bucket=Bucket.NO_CODE, detail=extraction.reason)
        return PreparedSample(task, completion, extraction, verdict)
    program = build_program(task, completion, extraction, options)
    return PreparedSample(task, completion, extraction, program)


def without_answer(task: Task, completion: Completion, verdict: Unscored) -> PreparedSample:
    """Return a sample that has no answer to judge, with the verdict that says why."""
    return PreparedSample(task, completion, NoCode(reason="there is no answer"), verdict)


def extract_code(task: Task, completion: Completion, options: Options) -> Extraction | NoCode:
    """Find the code in a completion, unless it is all code."""
    if completion.whole or options.extract == "never":
        return Extraction(code=completion.completion, rule="verbatim")
    truncated = completion.stop is StopReason.LENGTH
    return extract(completion.completion, task, truncated=truncated)


def build_program(
    task: Task, completion: Completion, extraction: Extraction, options: Options
) -> Program:
    """Make the program that is run for a completion."""
    preamble = BASE_IMPORTS if options.preamble == "base" else ""
    if completion.whole or options.extract == "never":
        text = completion.completion
        return verbatim(task, text, whole=completion.whole, preamble=preamble)
    return assemble(task, extraction, preamble=preamble)
