"""Judge a completion as `/submit` asks for it, and say so in SandboxFusion's words.

Tests stay apart from the candidate, as everywhere in Proctor: `full_code` is what was run, without
any test in it.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from proctor.extraction.assemble import assemble
from proctor.grading.engine import Engine, JudgeRequest
from proctor.judge.judgement import Rules
from proctor.records.extraction import NoCode
from proctor.records.task import StdinCases, Task
from proctor.records.verdict import TIMEOUTS, Bucket, Failed, TestResult, Unscored, Verdict
from proctor.results.pass_at_k import Tally, estimate
from proctor.sandbox import Sandbox
from proctor.server.compat.sandboxfusion.answers import Command, Evaluated, Ran, Tested
from proctor.server.compat.sandboxfusion.datasets import Problem
from proctor.server.compat.sandboxfusion.extracting import extracted
from proctor.server.compat.sandboxfusion.requests import Config, GetMetrics
from proctor.server.errors import ErrorResponse
from proctor.server.metrics import Metrics

COMPILING = frozenset({Bucket.COMPILE, Bucket.COMPILE_TIMEOUT, Bucket.COMPILE_RESOURCE})


class Submissions:
    """Judges completions; safe for use by several threads."""

    def __init__(self, engine: Engine, sandbox: Sandbox, counted: Metrics) -> None:
        self._engine = engine
        self._sandbox = sandbox
        self._counted = counted

    def judge(self, problem: Problem, completion: str, config: Config) -> Evaluated:
        """Find the code, run it, and say which tests it passes.

        As there, the first test that fails is the last, unless `run_all_cases` is asked for.
        """
        task = _limited(problem.task, config)
        code = extracted(self._sandbox, task, completion, config)
        if isinstance(code.found, NoCode):
            failed = Failed(bucket=Bucket.NO_CODE, detail=code.found.reason)
            self._counted.judged(failed)
            return _evaluated(problem, failed, config, extracted_code="", extracted_type=code.type)
        program = assemble(task, code.found)
        rules = Rules(early_stop=not config.extra.get("run_all_cases"))
        question = JudgeRequest(task=task, program=program, rules=rules)
        verdict = self._engine.judge(question).verdict
        self._counted.judged(verdict)
        if isinstance(verdict, Unscored):  # nothing that the completion did
            raise ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "unscored", verdict.reason, 1.0)
        return _evaluated(
            problem,
            verdict,
            config,
            extracted_code=code.found.code,
            extracted_type=code.type,
            full_code=program.source,
        )


def metrics(request: GetMetrics) -> dict[str, Any]:
    """Return what results come to: pass@1 with its interval."""
    tallies: dict[str, list[bool]] = {}
    for problem, accepted in request.accepted:
        tallies.setdefault(str(problem), []).append(accepted)
    if not tallies:
        return {}
    found = estimate(
        [
            Tally(task_id=problem, scored=len(all_), passed=sum(all_))
            for problem, all_ in tallies.items()
        ],
        1,
    )
    return {"pass@1": msgspec.to_builtins(found)}


def _limited(task: Task, config: Config) -> Task:
    if config.run_timeout is None:
        return task
    seconds = max(config.run_timeout, 0.001)
    return task.limited(task.limits.with_seconds(seconds), final=True)


def _evaluated(problem: Problem, verdict: Verdict, config: Config, **fields: Any) -> Evaluated:
    accepted = verdict.bucket is Bucket.PASSED
    tests = [_tested(problem.task, test, config) for test in verdict.tests]
    if not tests:
        result = TestResult(index=0, passed=accepted, bucket=verdict.bucket, detail=verdict.detail)
        tests = [_tested(problem.task, result, config)]
    extra = {"bucket": verdict.bucket.value, "detail": verdict.detail, "score": verdict.score}
    return Evaluated(id=problem.id, accepted=accepted, tests=tests, extra=extra, **fields)


def _tested(task: Task, test: TestResult, config: Config) -> Tested:
    about: dict[str, Any] = {"index": test.index, "bucket": test.bucket.value}
    if config.extra.get("return_full_case") and isinstance(task.tests, StdinCases):
        about["input"] = {"stdin": _nth(task.tests.inputs, test.index)}
        about["output"] = {"stdout": _nth(task.tests.outputs, test.index)}
    return Tested(passed=test.passed, exec_info=_exec_info(task, test), test_info=about)


def _nth(texts: Sequence[str], index: int) -> str:
    return texts[index] if index < len(texts) else ""


def _exec_info(task: Task, test: TestResult) -> Ran:
    """Say what became of a test as if it had been a program of its own."""
    ended_well = test.passed or (
        test.bucket is Bucket.WRONG_ANSWER and isinstance(task.tests, StdinCases)
    )
    late = test.bucket in {*TIMEOUTS, Bucket.COMPILE_TIMEOUT}
    command = Command(
        status="TimeLimitExceeded" if late else "Finished",
        execution_time=test.seconds,
        return_code=None if late else 0 if ended_well else 1,
        stdout=test.got if isinstance(task.tests, StdinCases) and test.got else "",
        stderr="" if ended_well else test.detail,
    )
    compiling = test.bucket in COMPILING
    return Ran(
        status="Success" if ended_well else "Failed",
        message=test.detail,
        compile_result=command if compiling else None,
        run_result=None if compiling else command,
    )
